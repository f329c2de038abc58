import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import {
  type CacheState,
  type CompactionAhead,
  cacheStateOf,
  costOf,
  missCost,
  type WorthInput,
  worthOf,
} from './economics.ts'

const warm = { type: 'warm', lifetime: 300_000 } as const
const hour = { type: 'warm', lifetime: 3_600_000 } as const
const cold = { type: 'cold', lifetime: 3_600_000 } as const
const price = { input: 5, output: 25 }

describe('the worth of a reduction', () => {
  // The break-even table of the design notes: 11.5 S/C turns for five minutes, 19 S/C for an hour.
  test.each<[string, Pick<WorthInput, 'freed' | 'suffix' | 'cache'>, number]>([
    ['100K of 150K with a tail of 40K', { freed: 100_000, suffix: 40_000, cache: warm }, 4.6],
    ['5K in front of 100K', { freed: 5_000, suffix: 100_000, cache: warm }, 230],
    ['as much as stays', { freed: 10_000, suffix: 10_000, cache: warm }, 11.5],
    ['as much as stays, kept for an hour', { freed: 10_000, suffix: 10_000, cache: hour }, 19],
    ['with a cold cache', { freed: 5_000, suffix: 100_000, cache: cold }, 0],
    ['at the very end', { freed: 5_000, suffix: 0, cache: warm }, 0],
  ])('is even after so many turns: %s', (_, input, turns) => {
    expect(worthOf({ ...input, turns: 10 }).breakEven).toBe(turns)
  })

  test('is a sum that can be shown, in tokens at the input price and in dollars', () => {
    expect(worthOf({ freed: 100_000, suffix: 40_000, turns: 10, cache: warm, price })).toEqual({
      cache: 'warm',
      freed: 100_000,
      suffix: 40_000,
      turns: 10,
      read: 0.1,
      write: 1.25,
      rent: 0.1,
      saved: 100_000,
      cost: 46_000,
      deferral: 0,
      net: 54_000,
      breakEven: 4.6,
      pays: true,
      isDue: true,
      dollars: { saved: 0.5, cost: 0.23, net: 0.27 },
    })
  })

  test('does not pay when too few turns are left', () => {
    expect(worthOf({ freed: 100_000, suffix: 40_000, turns: 4, cache: warm }).pays).toBe(false)
    expect(worthOf({ freed: 100_000, suffix: 40_000, turns: 5, cache: warm }).pays).toBe(true)
  })

  test('costs nothing when the cache is cold, and saves the write at once', () => {
    expect(worthOf({ freed: 10_000, suffix: 100_000, turns: 1, cache: cold })).toMatchObject({ cost: 0, saved: 20_000 })
  })

  test('an unknown cache is taken for a warm one', () => {
    const unknown = { type: 'unknown', lifetime: 300_000 } as const
    const input = { freed: 10_000, suffix: 100_000, turns: 3 }
    expect(worthOf({ ...input, cache: unknown })).toEqual({ ...worthOf({ ...input, cache: warm }), cache: 'unknown' })
  })

  test('counts requests to come that will find the cache cold', () => {
    const input = { freed: 10_000, suffix: 0, turns: 10, cache: warm }
    expect(worthOf({ ...input, coldShare: 0.02 }).saved).toBe(10_000 + 0.02 * 1.15 * 100_000)
  })

  // 100,000 tokens go at 150,000 of 170,000; 50,000 follow them.
  test.each<[string, number, boolean]>([
    ['a cheap one is the better deal', 50_000, false],
    ['a dear one is worth putting off', 400_000, true],
  ])('weighs the compaction that is put off: %s', (_, cost, pays) => {
    const compaction = { at: 170_000, after: 20_000, cost, growth: 1_500 }
    const turns = Math.ceil(20_000 / 1_500)
    expect(worthOf({ freed: 100_000, suffix: 50_000, turns, cache: warm, compaction }).pays).toBe(pays)
  })

  test('agrees with two sessions told to the end, one that clears and one that waits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 4_000 }), fc.integer({ min: 20, max: 90 }), (growth, share) => {
        const compaction = { at: 170_000, after: 20_000, cost: 60_000, growth }
        const size = 150_000
        const freed = Math.round((size * share) / 100)
        const turns = Math.ceil((compaction.at - size) / growth)
        const { net } = worthOf({ freed, suffix: 30_000, turns, cache: warm, compaction })
        const told = averagedDifference({ compaction, size, freed, cost: 30_000 * 1.15 })
        // Sizes move in whole steps of growth, so the two differ by the reading of a few requests.
        expect(Math.abs(net - told)).toBeLessThan(4 * 0.1 * compaction.at + 0.02 * Math.abs(told))
      }),
    )
  })
})

type Told = {
  readonly compaction: CompactionAhead
  readonly size: number
  readonly freed: number
  readonly cost: number
}

/** How much more waiting costs than clearing, averaged over the time at which one stops. */
function averagedDifference({ compaction, size, freed, cost }: Told): number {
  const { at, after, growth } = compaction
  const cycle = Math.round((at - after) / growth)
  const many = 20 * cycle
  const waiting = runningCosts(compaction, size, many)
  const clearing = runningCosts(compaction, size - freed, many)
  let sum = 0
  for (let end = many - cycle; end < many; end++) sum += (waiting[end] ?? 0) - (clearing[end] ?? 0) - cost
  return sum / cycle
}

function runningCosts({ at, after, cost, growth }: CompactionAhead, from: number, requests: number): readonly number[] {
  let size = from
  let spent = 0
  return Array.from({ length: requests }, () => {
    if (size >= at) {
      spent += cost
      size = after
    }
    spent += 0.1 * size
    size += growth
    return spent
  })
}

const minute = 60_000
const written = { input: 1, output: 1, cacheRead: 0, cacheWrite: 100, cacheWriteHour: 0 }
const answer = (more: Partial<ViewMessage>): ViewMessage => ({
  role: 'assistant',
  content: 'done',
  origin: 'assistant',
  ...more,
})

describe('the state of the cache', () => {
  const cases: readonly (readonly [string, Partial<ViewMessage>, number, CacheState])[] = [
    [
      'warm within the five minutes of its last write',
      { time: 0, usage: written },
      4 * minute,
      { type: 'warm', lastAnswer: 0, lifetime: 5 * minute },
    ],
    ['cold after them', { time: 0, usage: written }, 5 * minute, { type: 'cold', lastAnswer: 0, lifetime: 5 * minute }],
    [
      'warm within the hour where it was written for one',
      { time: 0, usage: { ...written, cacheWriteHour: 100 } },
      59 * minute,
      { type: 'warm', lastAnswer: 0, lifetime: 60 * minute },
    ],
    [
      'cold after five minutes where only the head was written for an hour',
      { time: 0, usage: { ...written, cacheWriteHour: 60 } },
      5 * minute,
      { type: 'cold', lastAnswer: 0, lifetime: 5 * minute },
    ],
    [
      'an hour is assumed when no answer tells',
      { time: 0 },
      59 * minute,
      { type: 'warm', lastAnswer: 0, lifetime: 60 * minute },
    ],
    ['unknown without a time', { usage: written }, 59 * minute, { type: 'unknown', lifetime: 5 * minute }],
    [
      'unknown when the clock went backwards',
      { time: 10, usage: written },
      9,
      { type: 'unknown', lastAnswer: 10, lifetime: 5 * minute },
    ],
  ]
  test.each(cases)('%s', (_, more, now, state) => {
    expect(cacheStateOf({ messages: [answer(more)], now })).toEqual(state)
  })

  test('the newest answer that wrote says how long, and one that only read changes nothing', () => {
    const forHour = answer({ time: 0, usage: { ...written, cacheWriteHour: 100 } })
    const forMinutes = answer({ time: minute, usage: written })
    const read = answer({ time: 2 * minute, usage: { ...written, cacheRead: 100, cacheWrite: 0 } })
    const lifetime = (...messages: readonly ViewMessage[]) => cacheStateOf({ messages, now: 3 * minute }).lifetime
    expect(lifetime(forHour, read)).toBe(60 * minute)
    expect(lifetime(forHour, forMinutes, read)).toBe(5 * minute)
  })
})

const million = 1_000_000

describe('the cost of an answer', () => {
  test('prices input, output, cache reads and both kinds of cache writes', () => {
    const counts = {
      input: million,
      output: million,
      cacheRead: million,
      cacheWrite: 2 * million,
      cacheWriteHour: million,
    }
    expect(costOf(counts, 'claude-opus-4-5-20251101')).toBeCloseTo(5 + 25 + 0.5 + 6.25 + 10, 9)
  })

  test('is unknown for a model without a price, unless one is handed in', () => {
    const counts = { input: million, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
    expect(costOf(counts, 'who-knows')).toBeUndefined()
    // A provider that reports more tokens written for an hour than written at all.
    const odd = { ...noTokens, cacheWrite: 1_000_000, cacheWriteHour: 3_000_000 }
    expect(costOf(odd, 'claude-opus-4-5')).toBeCloseTo(10, 9)
    expect(costOf(counts, 'who-knows', { price: { input: 3, output: 15 } })).toBe(3)
  })
})

test('a prompt that is long because of what the cache holds has the price of a long prompt', () => {
  const model = 'claude-haiku-5-5'
  const million = 1_000_000
  expect(costOf({ ...noTokens, cacheRead: million }, model)).toBeCloseTo(0.1 * 0.5, 9)
  expect(costOf({ ...noTokens, cacheRead: 1_000 }, model)).toBeCloseTo((0.1 * 0.1 * 1_000) / million, 12)
})

test.each([
  ['written for five minutes', { cacheWrite: 100, cacheWriteHour: 0 }, 1.25],
  ['written for an hour', { cacheWrite: 100, cacheWriteHour: 100 }, 2],
  ['written partly for an hour', { cacheWrite: 100, cacheWriteHour: 40 }, 1.25],
  ['not written at all', { cacheWrite: 0, cacheWriteHour: 0 }, 1],
])('a missed cache costs what was paid for the prompt, less what reading it would have cost: %s', (_, wrote, paid) => {
  const usage = { ...noTokens, ...wrote }
  expect(missCost(1_000_000, { usage, price })).toBeCloseTo((paid - 0.1) * price.input, 6)
  expect(missCost(1_000_000, { usage, price: undefined })).toBe(undefined)
})
