import { describe, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import type { ViewMessage } from '../message/message.ts'
import { coldPrices, idleWorth, markLifetime } from './clock.ts'
import type { Situation } from './mechanism.ts'
import { situationOf } from './situation.ts'
import { viewOf } from './testing/examples.ts'

const minute = 60_000
const view = viewOf(session().user('go').assistant('done').records)
const base = situationOf(view, { now: 0, model: 'claude-opus-4-5' })

/** A session of this size that grows by 1,000 tokens per request. */
function situation(tokens: number, more: Partial<Situation> = {}): Situation {
  const { explanation } = base
  return {
    ...base,
    explanation: { ...explanation, size: { ...explanation.size, tokens } },
    growth: 1_000,
    base: 10_000,
    cache: { type: 'warm', lastAnswer: 0, lifetime: 5 * minute },
    ...more,
  }
}

describe('the lifetime of the marks', () => {
  const chosen = (tokens: number, short: number, long: number) =>
    markLifetime(situation(tokens, { coldShares: { short, long } }), tokens)

  test.each<[string, Parameters<typeof chosen>, string]>([
    ['no pauses', [100_000, 0, 0], '5m'],
    ['pauses within the hour', [100_000, 0.02, 0], '1h'],
    ['only pauses longer than an hour', [100_000, 0.02, 0.02], '5m'],
    ['some longer than an hour, after which all is written for an hour', [100_000, 0.03, 0.02], '5m'],
    ['the same pauses in a small context', [20_000, 0.02, 0], '5m'],
  ])('%s', (_, given, expected) => {
    expect(chosen(...given)).toBe(expected)
  })

  test('is the one with the lower expected price, exactly at the limit the short one', () => {
    // Each request costs 0.75 × 1,000 more; each pause saves 1.15 × 100,000. Both are equal at a share of 750 / 115,000.
    const even = 750 / 115_000
    expect([chosen(100_000, even * 0.999, 0), chosen(100_000, even * 1.001, 0)]).toEqual(['5m', '1h'])
    expect(markLifetime({ growth: 0, coldShares: { short: 0, long: 0 } }, 100_000)).toBe('5m')
  })

  test('is short while nothing is known', () => {
    expect(markLifetime(situation(500_000, { growth: undefined }), 500_000)).toBe('5m')
  })
})

/** Turns of a person who came back after these pauses. */
function after(...pauses: readonly number[]): readonly ViewMessage[] {
  let time = 0
  return pauses.flatMap((pause): readonly ViewMessage[] => {
    const answered = time
    time += pause
    return [
      { role: 'assistant', origin: 'assistant', content: 'done', time: answered },
      { role: 'user', origin: 'human', content: 'go', time },
    ]
  })
}

describe('a compaction just before the cache expires', () => {
  test('costs reading the context and writing a summary, and saves writing it again', () => {
    // 0.1 × 150,000 + 6,000 × 5; 1.25 × (150,000 − 18,000).
    expect(idleWorth(after(), situation(150_000))).toEqual({ pays: true, cost: 45_000, saved: 165_000, chance: 0.5 })
  })

  test('pays the sooner the more often somebody came back after such a pause', () => {
    const pays = (tokens: number, ...pauses: readonly number[]) => idleWorth(after(...pauses), situation(tokens))?.pays
    expect([pays(70_000), pays(80_000)]).toEqual([false, true])
    expect([pays(65_000, 6 * minute, 7 * minute), pays(65_000, 4 * minute, 4 * minute)]).toEqual([true, false])
    expect([pays(65_000, 5 * minute, 5 * minute), pays(65_000, 5 * minute - 1, 5 * minute - 1)]).toEqual([true, false])
  })

  test('never pays for a context that a summary would not make smaller', () => {
    expect(idleWorth(after(6 * minute, 6 * minute), situation(18_000))?.pays).toBe(false)
  })

  test('is not decided while nothing is known', () => {
    expect(idleWorth(after(), situation(500_000, { growth: undefined }))).toBeUndefined()
  })
})

test('the price of a cold request, with a compaction first only where that is cheaper', () => {
  const cold = situation(150_000, { cache: { type: 'cold', lastAnswer: 0, lifetime: 5 * minute } })
  // $5 a million: 1.25 and 0.1 of that.
  expect(coldPrices(cold)).toEqual({ cost: 0.9375, warmCost: expect.closeTo(0.075, 9) })
  // Haiku: $1 and $5 a million, then 18,000 tokens to write.
  expect(coldPrices(cold, { summaryModel: 'claude-haiku-4-5' }).compactFirst).toBeCloseTo(0.15 + 0.03 + 0.1125, 9)
  expect(coldPrices(cold, { summaryModel: 'claude-opus-4-5' })).not.toHaveProperty('compactFirst')
  expect(coldPrices({ ...cold, model: undefined })).toEqual({})
  // A cached head of 20,000 tokens is read before and after a compaction. 8,000 tokens are left after it.
  const { cost, warmCost } = coldPrices(cold, { head: 20_000 })
  expect([cost, warmCost]).toEqual([expect.closeTo(0.8225, 9), expect.closeTo(0.075, 9)])
  const first = coldPrices(cold, { head: 10_000, summaryModel: 'claude-haiku-4-5' }).compactFirst
  expect(first).toBeCloseTo(0.15 + 0.03 + 0.005 + 0.05, 9)
})
