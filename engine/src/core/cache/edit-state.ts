// What a conversation has deleted from the provider's cached prefix. Immutable; one per conversation.
import type { Usage } from '../message/usage.ts'

export type CacheEditState = {
  /** Tool uses whose results were in the cached prefix, in order. */
  readonly seen: readonly string[]
  /** Sent again with every request while the cache is hit. */
  readonly deleted: readonly string[]
  /** As reported by the latest answer: a drop of this size is no cache break. */
  readonly deletedTokens: number
  /** The newest tool use of each of the last two deletions: cached prefixes end there. */
  readonly ends?: readonly string[]
  /** Tokens deleted since the newest answer, whose usage still counts them. */
  readonly asked?: number
}

export const noCacheEdits: CacheEditState = { seen: [], deleted: [], deletedTokens: 0 }

/** The same object if nothing is new. */
export function withSeen(state: CacheEditState, toolUseIds: readonly string[]): CacheEditState {
  const known = new Set(state.seen)
  const fresh = [...new Set(toolUseIds)].filter((id) => !known.has(id))
  return fresh.length === 0 ? state : { ...state, seen: [...state.seen, ...fresh] }
}

/** `tokens` is the size of the newly deleted ones. */
export function withDeleted(state: CacheEditState, toolUseIds: readonly string[], tokens = 0): CacheEditState {
  const seen = withSeen(state, toolUseIds)
  const known = new Set(state.deleted)
  const fresh = [...new Set(toolUseIds)].filter((id) => !known.has(id))
  if (fresh.length === 0) return seen
  const ends = [...(state.ends ?? []), ...fresh.slice(-1)].slice(-2)
  const asked = (state.asked ?? 0) + tokens
  return { ...seen, deleted: [...state.deleted, ...fresh], ends, ...(asked > 0 ? { asked } : {}) }
}

/** An answer that reports no deletions changes nothing. */
export function afterAnswer(
  state: CacheEditState,
  answer: { readonly usage?: Usage | undefined; readonly deletedTokens?: number | undefined },
): CacheEditState {
  const { deletedTokens = state.deletedTokens } = answer
  const { asked, ...rest } = state
  if (asked === undefined && deletedTokens === state.deletedTokens) return state
  return { ...rest, deletedTokens }
}

export function afterCacheBreak(): CacheEditState {
  return noCacheEdits
}
