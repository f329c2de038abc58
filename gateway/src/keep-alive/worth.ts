// Whether touching a cached prefix pays: what a miss would cost if the client returns in time, against reading the prefix once more.
import { costOf, modelFacts, priceOf } from 'everlong/internal'
import { missCost } from 'everlong/internal/compaction'
import type { Usage } from 'everlong/internal/wire'

export type TouchInput = {
  readonly model: string
  /** Of the newest answer: its prefix is the one to keep. */
  readonly usage: Usage
  /** How likely the client continues while the touch keeps the prefix. */
  readonly returnShare: number
}

export type TouchWorth = {
  /** In US dollars. */
  readonly cost: number
  /** If the client returns. */
  readonly saving: number
  readonly pays: boolean
}

/** Tokens that are in the cache after an answer. */
export function prefixOf({ cacheRead, cacheWrite }: Pick<Usage, 'cacheRead' | 'cacheWrite'>): number {
  return cacheRead + cacheWrite
}

/** Undefined if the price is not known. A touch reads the prefix and sends the rest of the prompt; it asks for no output. */
export function touchWorth({ model, usage, returnShare }: TouchInput): TouchWorth | undefined {
  const prefix = prefixOf(usage)
  const facts = modelFacts(model)
  const price = facts && priceOf(facts, usage.input + prefix)
  const cost = costOf({ input: usage.input, output: 0, cacheRead: prefix, cacheWrite: 0, cacheWriteHour: 0 }, model)
  // The next request would write the prefix for as long as this one did.
  const written = usage.cacheWrite > 0 ? usage : { ...usage, cacheWrite: prefix }
  const saving = missCost(prefix, { usage: written, price })
  if (cost === undefined || saving === undefined) return undefined
  return { cost, saving, pays: saving * returnShare > cost }
}
