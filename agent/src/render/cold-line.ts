// The notice about an expired prompt cache: the cost of the turn, and whether to compact first.
import type { EngineEvent } from 'everlong'
import { dollars, duration } from './numbers.ts'

/** In dollars. A smaller difference is not worth a line. */
const worthSaying = 0.1

/** Undefined if the cache would have saved little, or the price is unknown. */
export function coldLine(event: Extract<EngineEvent, { readonly type: 'cache-cold' }>): string | undefined {
  const { expiredMs, cost, warmCost, compactFirst } = event
  if (cost === undefined || warmCost === undefined || cost - warmCost < worthSaying) return undefined
  const first = compactFirst === undefined ? '' : `; /compact first: ${dollars(compactFirst)}`
  return `The cache expired ${duration(expiredMs)} ago; this turn costs ${dollars(cost)} instead of ${dollars(warmCost)}${first}.`
}
