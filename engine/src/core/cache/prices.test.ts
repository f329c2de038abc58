import { describe, expect, test } from 'vitest'
import { costOf } from './prices.ts'

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
    expect(costOf(counts, 'who-knows', { price: { input: 3, output: 15 } })).toBe(3)
  })

  test('takes other multiples for the cache where they are given', () => {
    const counts = { input: 0, output: 0, cacheRead: million, cacheWrite: 0, cacheWriteHour: 0 }
    expect(costOf(counts, 'claude-opus-5', { cache: { read: 0.5 } })).toBe(2.5)
  })
})
