// The outcome of an attempt to make the context smaller, from asking a model for a summary up to `session.compact()`. `reason` is
// for programs, `why` is a sentence for people.
import type { Worth } from '../cache/economics.ts'
import { isObject, type JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { FidelityReport } from './hooks.ts'
import type { Overflow, QuerySource } from './model.ts'
import type { Restoration } from './restore.ts'

/** The outcome of a mechanism. It changes nothing until the session has measured and applied it. */
export type Outcome = Success | Declined | Failed

/** Makes the context smaller. */
export type Success = CompactedDraft | Reduced | Delegated

/** A summary has replaced messages. */
export type Compacted = Effort & {
  readonly type: 'compacted'
  /** The writer of the summary: `cache-sharing`, `direct`, `session-memory`, `offline` … */
  readonly mechanism: string
  /** Boundary, summary, attachments and hook results, in the order of the transcript. */
  readonly records: readonly JsonObject[]
  /** The size of the context as the gauge shows it. */
  readonly before: number
  readonly after: number
  readonly durationMs: number
  readonly chain: ChainInfo
  /** Messages of hooks for the person. */
  readonly notices: readonly string[]
  readonly restored?: Restoration
  readonly summary?: string
  /** What code found when it checked the summary. */
  readonly fidelity?: FidelityReport
  /** Texts of PostCompact hooks for the model. */
  readonly contextAfter?: readonly string[]
}

/** A compaction that is not written yet. */
export type CompactedDraft = Pick<Compacted, 'type' | 'mechanism' | 'records'> & Partial<Compacted>

/** Edits of the view. */
export type Reduced = Partial<Effort> & Change & { readonly type: 'reduced'; readonly edits: readonly Edit[] }

/** Content that the server is asked to omit. */
export type Delegated = Partial<Effort> & Change & { readonly type: 'delegated'; readonly request: RequestOptions }

/** There is nothing to do now. */
export type Declined<Reason extends string = string> = Partial<Effort> & {
  readonly type: 'declined'
  readonly reason: Reason
  readonly why: string
}

/** It did not work, and nothing has changed. */
export type Failed = Partial<Spent> & {
  readonly type: 'failed'
  readonly reason: FailedReason
  /** The problem, and what can be done about it. */
  readonly why: string
  readonly tried: readonly Tried[]
  /** Messages of hooks for the person. */
  readonly notices?: readonly string[]
  /** If the request for a summary was too long: the numbers that the provider named. */
  readonly overflow?: Overflow | undefined
}

export type FailedReason =
  | 'no-summary'
  | 'api-error'
  | 'prompt-too-long'
  | 'no-progress'
  | 'aborted'
  | 'vetoed'
  | 'nothing-to-compact'
  | 'write-failed'

/** What was tried, and its cost. */
export type Effort = Spent & { readonly tried: readonly Tried[] }

/** One attempt to make the context smaller, or to get a summary. */
export type Tried = {
  readonly mechanism: string
  readonly outcome: 'declined' | 'failed' | 'done'
  /** Why it declined or failed, for programs. */
  readonly reason?: string
  readonly why: string
}

/** The cost of requests to models. */
export type Spent = {
  readonly usage: TokenCounts
  /** In dollars, if the prices are known. */
  readonly cost?: number | undefined
  /** Requests to a model. */
  readonly attempts?: number | undefined
  /** The share of its prompt that the cache-sharing request read from the cache. */
  readonly hitRate?: number | undefined
}

/** The relation of a compaction to the previous one. */
export type ChainInfo = {
  /** No human message since the previous compaction. */
  readonly isRecompaction: boolean
  readonly turnsSincePrevious?: number
  readonly previousTurnId?: string
  readonly threshold: number
  readonly source: QuerySource
}

/** A change without a summary. */
export type Change = {
  readonly freed: number
  /** The reason, for people. */
  readonly why?: string
  readonly items?: readonly PlannedItem[]
  readonly thinking?: ThinkingOutcome
  readonly worth?: Worth
}

export type PlannedItem = {
  readonly type: 'result' | 'attachment' | 'range' | 'thinking'
  readonly toolUseId?: string
  readonly tool?: string
  readonly path?: string
  /** The description in the text that replaces it. */
  readonly stub?: string
  /** Entries that keep the original. */
  readonly uuids: readonly string[]
  readonly message: number
  /** Tokens by the rule of the mechanism, which counts an image as 2,000. */
  readonly tokens: number
  /** Tokens gained, minus the text that replaces it. */
  readonly frees: number
  readonly why: string
}

/** What happens to thinking that the model bound to the prefix. */
export type ThinkingOutcome =
  | 'untouched' // the model does not bind it, or there is none after the change
  | 'removed' // all of it after the change
  | 'delegated' // the server edits, and the signatures stay valid

export type RequestOptions = {
  readonly contextManagement?: { readonly edits: readonly JsonObject[] }
  readonly betas?: readonly string[]
  /** Old and new cache edits, because they are relative to the cached prefix and every request repeats them. */
  readonly cacheEdits?: readonly CacheEdit[]
  /** Tool uses whose results the server omits, including earlier ones, because a change would break the cache. */
  readonly leftOut?: readonly string[]
}

export type CacheEdit = { readonly type: 'delete'; readonly cache_reference: string }

export function declined<Reason extends string>(reason: Reason, why: string): Declined<Reason> {
  return { type: 'declined', reason, why }
}

export function failed(reason: FailedReason, why: string, more: Partial<Failed> = {}): Failed {
  return { type: 'failed', reason, why, tried: [], ...more }
}

export const stopped = failed('aborted', 'It was stopped.')

export function isFailed(value: unknown): value is Failed {
  return isObject(value) && value.type === 'failed'
}

/** Short texts for events, without text of the conversation or of a provider. */
export function outcomesOf(tried: readonly Tried[]): readonly string[] {
  return tried.map(({ mechanism, outcome }) => `${mechanism}: ${outcome}`)
}
