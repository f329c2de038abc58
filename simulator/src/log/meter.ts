// The cost of requests, by published prices and multipliers.

import type { TokenCounts } from 'everlong'
import { costOf, type ModelFacts, priceOf } from 'everlong/internal'
import { noSampling, promptTokens, type Sampling } from '../answer/usage.ts'
import { openAiPrice } from './openai-prices.ts'

export type MeterTotals = Omit<Sampling, 'type' | 'thinking'> & {
  readonly requests: number
  /** US dollars, without requests of unknown price. */
  readonly cost: number
  /** Number of requests to models whose price is unknown. */
  readonly unpriced: number
}

export type Meter = {
  readonly totals: () => MeterTotals
  readonly add: (samplings: readonly Sampling[], cost: number | undefined) => void
  readonly reset: () => void
}

/** US dollars. Undefined if the model has no published price. */
export function costOfAll(samplings: readonly Sampling[], facts: ModelFacts): number | undefined {
  const costs = samplings.map((one) => {
    const price = priceOf(facts, promptTokens(one)) ?? openAiPrice(facts.id)
    return costOf(countsOf(one), facts.id, price === undefined ? {} : { price })
  })
  return costs.reduce((sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost), 0)
}

function countsOf(one: Sampling): TokenCounts {
  return {
    input: one.input,
    output: one.output,
    cacheRead: one.read,
    cacheWrite: one.write5m + one.write1h,
    cacheWriteHour: one.write1h,
  }
}

export function createMeter(): Meter {
  const { type: _type, thinking: _thinking, ...zero } = noSampling
  const nothing: MeterTotals = { ...zero, requests: 0, cost: 0, unpriced: 0 }
  let totals = nothing
  return {
    totals: () => totals,
    add: (samplings, cost) => {
      const { requests, unpriced } = totals
      const counted = {
        requests: requests + 1,
        unpriced: unpriced + (cost === undefined && samplings.length > 0 ? 1 : 0),
      }
      totals = samplings.reduce(plus, { ...totals, ...counted, cost: totals.cost + (cost ?? 0) })
    },
    reset: () => {
      totals = nothing
    },
  }
}

function plus(totals: MeterTotals, one: Sampling): MeterTotals {
  return {
    ...totals,
    input: totals.input + one.input,
    output: totals.output + one.output,
    read: totals.read + one.read,
    write5m: totals.write5m + one.write5m,
    write1h: totals.write1h + one.write1h,
    deleted: totals.deleted + one.deleted,
  }
}
