// What requests cost, by the published prices and multipliers.
import { cachePrices, type ModelFacts } from 'everlong'
import { noSampling, promptTokens, type Sampling } from '../answer/usage.ts'

export type MeterTotals = Omit<Sampling, 'type' | 'thinking'> & {
  readonly requests: number
  /** US dollars. */
  readonly cost: number
}

export type Meter = {
  readonly totals: () => MeterTotals
  readonly add: (samplings: readonly Sampling[], cost: number | undefined) => void
  readonly reset: () => void
}

const perMillion = 1_000_000

/** US dollars; undefined where the model has no published price. */
export function costOf(samplings: readonly Sampling[], facts: ModelFacts): number | undefined {
  if (facts.price === undefined) return undefined
  const usual = facts.price
  return samplings.reduce((sum, one) => {
    const isLong = facts.longPrompt !== undefined && promptTokens(one) > facts.longPrompt.above
    const price = isLong && facts.longPrompt ? facts.longPrompt.price : usual
    const input =
      one.input + one.read * cachePrices.read + one.write5m * cachePrices.write + one.write1h * cachePrices.writeHour
    return sum + (input * price.input + one.output * price.output) / perMillion
  }, 0)
}

export function createMeter(): Meter {
  const { type: _type, thinking: _thinking, ...zero } = noSampling
  const nothing: MeterTotals = { ...zero, requests: 0, cost: 0 }
  let totals = nothing
  return {
    totals: () => totals,
    add: (samplings, cost) => {
      totals = samplings.reduce(plus, { ...totals, requests: totals.requests + 1, cost: totals.cost + (cost ?? 0) })
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
