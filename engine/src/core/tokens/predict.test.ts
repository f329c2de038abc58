import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { predictCompaction, whereCompactionsWouldFall } from './predict.ts'

const minute = 60_000

describe('the prediction', () => {
  test('rests on the median growth, so that one huge turn does not frighten anyone', () => {
    const turns = [10_000, 12_000, 14_000, 64_000, 66_000].map((tokens, index) => ({ tokens, time: index * minute }))
    expect(predictCompaction(turns, 100_000)).toEqual({ turns: 17, growth: 2_000, time: (4 + 17) * minute })
  })

  const grown = (length: number, step: number, from = 20_000) =>
    Array.from({ length }, (_, index) => ({ tokens: from + index * step }))

  test('looks at the last twenty turns only, and past compactions', () => {
    const early = grown(30, 3_000)
    const late = grown(21, 1_000)
    expect(predictCompaction([...early, ...late], 110_000)).toEqual({ turns: 70, growth: 1_000 })
    expect(predictCompaction([{ tokens: 90_000 }, { tokens: 20_000 }, { tokens: 21_000 }], 25_000)).toEqual({
      turns: 4,
      growth: 1_000,
    })
  })

  test('is made only if the last ones were right within a factor of two', () => {
    const even = grown(10, 8_000)
    expect(predictCompaction([...even, ...grown(4, 8_000)], 100_000)).toMatchObject({ turns: 7 })
    // Small steps, then one as large as all of them together. The median promised many more turns.
    const jump = [...grown(9, 500), { tokens: 99_000 }]
    expect(predictCompaction([...jump, ...grown(4, 500)], 100_000)).toBeUndefined()
    // A manual compaction long before: that prediction was wrong, too.
    expect(predictCompaction([...grown(6, 2_000), ...grown(4, 2_000)], 100_000)).toBeUndefined()
    // It no longer counts after enough compactions.
    const rounds = [1, 2, 3, 4].flatMap(() => even)
    expect(predictCompaction([...jump, ...rounds, ...grown(4, 8_000)], 100_000)).toMatchObject({ turns: 7 })
    expect(predictCompaction([...jump, ...even, ...even, ...grown(4, 8_000)], 100_000)).toBeUndefined()
  })

  test('is now when the threshold is reached, and none when nothing grows', () => {
    expect(predictCompaction([{ tokens: 10 }, { tokens: 200 }], 100)).toEqual({ turns: 0, growth: 190 })
    expect(predictCompaction([{ tokens: 10 }], 100)).toBeUndefined()
    expect(predictCompaction([{ tokens: 10 }, { tokens: 10 }], 100)).toBeUndefined()
  })
})

describe('where compactions would have fallen', () => {
  test('tells each one, with the conversation going on from what it left', () => {
    expect(whereCompactionsWouldFall([40, 80, 120, 160, 200], { threshold: 100, after: 20 })).toEqual([
      { turn: 2, tokensBefore: 120, tokensAfter: 20 },
      { turn: 4, tokensBefore: 100, tokensAfter: 20 },
    ])
  })

  test('follows the session where it shrank by itself', () => {
    expect(whereCompactionsWouldFall([90, 10, 50, 95], { threshold: 100, after: 20 })).toEqual([])
  })

  test('never loops: no more compactions than turns, whatever the numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500_000)), fc.integer({ min: 1, max: 300_000 }), (sizes, threshold) => {
        const found = whereCompactionsWouldFall(sizes, { threshold })
        expect(found.length).toBeLessThanOrEqual(sizes.length)
        for (const { tokensBefore, tokensAfter } of found) expect(tokensAfter).toBeLessThan(tokensBefore)
      }),
    )
  })
})

test.each([
  [[10_000, 12_000, 16_000], 3_000],
  [[10_000, 12_000, 16_000, 17_000], 2_000],
  [[10_000, 11_000, 13_000, 17_000, 25_000], 3_000],
])(
  'the growth of %o is the median of its steps, between the two middle ones if their number is even',
  (sizes, growth) => {
    const turns = sizes.map((tokens) => ({ tokens }))
    expect(predictCompaction(turns, 100_000)).toMatchObject({ growth })
  },
)
