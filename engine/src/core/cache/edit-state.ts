// What a conversation has deleted from the provider's cached prefix: an immutable value that the session keeps and
// hands in. One for each conversation, never one for all.
import type { Usage } from '../message/usage.ts'

export type CacheEditState = {
  /** Tool uses whose results were in the cached prefix, in order of arrival. */
  readonly seen: readonly string[]
  /** Deleted so far, and sent again with every request as long as the cache is hit. */
  readonly deleted: readonly string[]
  /** Deleted cached tokens as the latest answer reported them: a drop of so much is no cache break. */
  readonly deletedTokens: number
  /** The newest tool use of each of the latest two deletions: a cached prefix ends there. */
  readonly ends?: readonly string[]
  /** Tokens whose deletion was asked for since the newest answer: its usage still counts them. */
  readonly asked?: number
}

export const noCacheEdits: CacheEditState = { seen: [], deleted: [], deletedTokens: 0 }

/** The very same state when nothing new arrived. */
export function withSeen(state: CacheEditState, toolUseIds: readonly string[]): CacheEditState {
  const known = new Set(state.seen)
  const fresh = [...new Set(toolUseIds)].filter((id) => !known.has(id))
  return fresh.length === 0 ? state : { ...state, seen: [...state.seen, ...fresh] }
}

/** `tokens`: what those weigh that are new among them. */
export function withDeleted(state: CacheEditState, toolUseIds: readonly string[], tokens = 0): CacheEditState {
  const seen = withSeen(state, toolUseIds)
  const known = new Set(state.deleted)
  const fresh = [...new Set(toolUseIds)].filter((id) => !known.has(id))
  if (fresh.length === 0) return seen
  const ends = [...(state.ends ?? []), ...fresh.slice(-1)].slice(-2)
  const asked = (state.asked ?? 0) + tokens
  return { ...seen, deleted: [...state.deleted, ...fresh], ends, ...(asked > 0 ? { asked } : {}) }
}

/** After an answer: what it says was deleted is the new baseline. An answer that says nothing leaves it. */
export function afterAnswer(
  state: CacheEditState,
  answer: { readonly usage?: Usage | undefined; readonly deletedTokens?: number | undefined },
): CacheEditState {
  const { deletedTokens = state.deletedTokens } = answer
  const { asked, ...rest } = state
  if (asked === undefined && deletedTokens === state.deletedTokens) return state
  return { ...rest, deletedTokens }
}

/** The prefix they were relative to is gone: nothing is deleted, everything may be seen again. */
export function afterCacheBreak(): CacheEditState {
  return noCacheEdits
}
