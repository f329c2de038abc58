// Whether touching a cached prefix pays: the cost of a miss if the client returns in time, against reading the prefix once more.
import { costOf, modelFacts, priceOf } from 'everlong/internal'
import { missCost } from 'everlong/internal/compaction'
import type { Usage } from 'everlong/internal/wire'

export type TouchInput = {
  readonly model: string
  /** Usage of the newest answer, whose prefix is kept. */
  readonly usage: Usage
  /** Probability that the client continues while the touch keeps the prefix. */
  readonly returnShare: number
}

export type TouchWorth = {
  /** In US dollars. */
  readonly cost: number
  /** In US dollars, if the client returns. */
  readonly saving: number
  readonly pays: boolean
}

/** Tokens that are in the cache after an answer. */
export function prefixOf({ cacheRead, cacheWrite }: Pick<Usage, 'cacheRead' | 'cacheWrite'>): number {
  return cacheRead + cacheWrite
}

/** Undefined if the price is unknown. A touch reads the prefix and sends the rest of the prompt, without output. */
export function touchWorth({ model, usage, returnShare }: TouchInput): TouchWorth | undefined {
  const prefix = prefixOf(usage)
  const facts = modelFacts(model)
  const price = facts && priceOf(facts, usage.input + prefix)
  const cost = costOf({ input: usage.input, output: 0, cacheRead: prefix, cacheWrite: 0, cacheWriteHour: 0 }, model)
  // The next request would write the prefix with the same lifetime.
  const written = usage.cacheWrite > 0 ? usage : { ...usage, cacheWrite: prefix }
  const saving = missCost(prefix, { usage: written, price })
  if (cost === undefined || saving === undefined) return undefined
  return { cost, saving, pays: saving * returnShare > cost }
}
