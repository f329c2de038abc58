// What a session has used since it was opened, a line for each purpose: turns, compactions, session memory, collapse.
import { costOf } from '../cache/prices.ts'
import { addCounts, noTokens, type TokenCounts } from '../message/usage.ts'
import type { QuerySource } from '../ports/model.ts'

export type SpentLine = {
  readonly requests: number
  readonly usage: TokenCounts
  /** In dollars; undefined where a price is not known. */
  readonly cost: number | undefined
}

export type Spent = Readonly<Record<QuerySource, SpentLine>>

const nothing: SpentLine = { requests: 0, usage: noTokens, cost: 0 }

export const nothingSpent: Spent = { turn: nothing, compact: nothing, 'session-memory': nothing, collapse: nothing }

export type Spending = { readonly source: QuerySource; readonly usage: TokenCounts; readonly model: string }

export function withSpent(spent: Spent, { source, usage, model }: Spending): Spent {
  const before = spent[source]
  const more = costOf(usage, model)
  const cost = before.cost === undefined || more === undefined ? undefined : before.cost + more
  return { ...spent, [source]: { requests: before.requests + 1, usage: addCounts(before.usage, usage), cost } }
}
