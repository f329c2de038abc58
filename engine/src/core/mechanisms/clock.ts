// The cache clock: what a request costs after the cache has expired, and what a compaction would change about that.
import { writePrice } from '../cache/economics.ts'
import { cachePrices, modelFacts, type Price } from '../catalog/models.ts'
import { defined } from '../message/json.ts'
import type { Situation } from './mechanism.ts'
import { compactionCosts, summaryTokens } from './situation.ts'

/** US dollars, as far as prices are known. */
export type ColdPrices = {
  /** Of the request: the whole context is written to the cache again. */
  readonly cost?: number
  /** The same with the cache. */
  readonly warmCost?: number
  /** A compaction, and then the request. Only if that is less. */
  readonly compactFirst?: number
}

export function coldPrices(situation: Situation, summaryModel: string | undefined): ColdPrices {
  const price = situation.model?.price
  if (!price) return {}
  const { tokens } = situation.explanation.size
  const write = writePrice(situation.cache)
  const cost = dollars(tokens * write, price)
  const compactFirst = compactionFirst(situation, price, summaryModel)
  return {
    cost,
    warmCost: dollars(tokens * cachePrices.read, price),
    ...defined({ compactFirst: compactFirst !== undefined && compactFirst < cost ? compactFirst : undefined }),
  }
}

/** The session's own model would have to write the whole context to the cache too, so only another one can be cheaper. */
function compactionFirst(situation: Situation, price: Price, summaryModel: string | undefined): number | undefined {
  const other = summaryModel === undefined ? undefined : modelFacts(summaryModel)?.price
  const costs = compactionCosts(situation)
  if (!other || !costs) return undefined
  const summary = (situation.explanation.size.tokens * other.input + summaryTokens * other.output) / 1_000_000
  return summary + dollars(costs.after * writePrice(situation.cache), price)
}

function dollars(tokens: number, { input }: Price): number {
  return (tokens * input) / 1_000_000
}
