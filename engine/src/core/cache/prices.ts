// What tokens cost. An unknown model has no price.
import { cachePrices, modelFacts, type Price, priceOf } from '../catalog/models.ts'
import type { TokenCounts } from '../message/usage.ts'

export type CostOptions = {
  /** Overrides the catalog. */
  readonly price?: Price
  /** Multiples of the input price; default: the documented ones. */
  readonly cache?: { readonly read?: number; readonly write?: number; readonly writeHour?: number }
}

/** US dollars; undefined if the price is unknown. */
export function costOf(counts: TokenCounts, model: string, options: CostOptions = {}): number | undefined {
  const facts = modelFacts(model)
  const prompt = counts.input + counts.cacheRead + counts.cacheWrite
  const price = options.price ?? (facts && priceOf(facts, prompt))
  if (!price) return undefined
  const cache = { ...cachePrices, ...options.cache }
  const writeShort = Math.max(0, counts.cacheWrite - counts.cacheWriteHour)
  const asInput =
    counts.input +
    counts.cacheRead * cache.read +
    writeShort * cache.write +
    Math.min(counts.cacheWriteHour, counts.cacheWrite) * cache.writeHour
  return (asInput * price.input + counts.output * price.output) / 1_000_000
}
