// What a session has used since it was opened, by purpose: turns, compactions, session memory, collapse.
import { costOf } from '../cache/prices.ts'
import { addCounts, noTokens, type TokenCounts } from '../message/usage.ts'
import type { QuerySource } from '../ports/model.ts'

export type PurposeUsage = {
  readonly requests: number
  readonly usage: TokenCounts
  /** In dollars; undefined when a price is not known. */
  readonly cost: number | undefined
}

export type UsageByPurpose = Readonly<Record<QuerySource, PurposeUsage>>

type Used = { readonly source: QuerySource; readonly usage: TokenCounts; readonly model: string }

export type UsageMeter = { readonly total: () => UsageByPurpose; readonly add: (used: Used) => void }

export function createUsageMeter(): UsageMeter {
  const none: PurposeUsage = { requests: 0, usage: noTokens, cost: 0 }
  let total: UsageByPurpose = { turn: none, compact: none, 'session-memory': none, collapse: none }
  return {
    total: () => total,
    add: ({ source, usage, model }) => {
      const { requests, usage: before, cost: paid } = total[source]
      const more = costOf(usage, model)
      const cost = paid === undefined || more === undefined ? undefined : paid + more
      total = { ...total, [source]: { requests: requests + 1, usage: addCounts(before, usage), cost } }
    },
  }
}
