// How an attempt to make the context smaller ends, from asking a model for a summary up to `session.compact()`. `reason` is
// for programs, `why` is a sentence for people.
import type { JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { FidelityReport } from './hooks.ts'
import type { Overflow, QuerySource } from './model.ts'
import type { Restoration } from './restore.ts'

export type FailedReason =
  | 'no-summary'
  | 'api-error'
  | 'prompt-too-long'
  | 'no-progress'
  | 'aborted'
  | 'vetoed'
  | 'nothing-to-compact'
  | 'write-failed'

/** It did not work, and nothing has changed. */
export type Failed = Partial<Spent> & {
  readonly type: 'failed'
  readonly reason: FailedReason
  /** What went wrong, and what can be done. */
  readonly why: string
  readonly tried: readonly Tried[]
  /** Messages of hooks for the person. */
  readonly notices?: readonly string[]
  /** If the request for a summary was too long: the numbers that the provider named. */
  readonly overflow?: Overflow | undefined
}

/** There is nothing to do now. */
export type Declined<Reason extends string = string> = {
  readonly type: 'declined'
  readonly reason: Reason
  readonly why: string
}

/** A summary has replaced messages. */
export type Compacted = Spent & {
  readonly type: 'compacted'
  /** What wrote the summary: `cache-sharing`, `direct`, `session-memory`, `offline` … */
  readonly mechanism: string
  /** Boundary, summary, attachments and hook results, in the order of the transcript. */
  readonly records: readonly JsonObject[]
  /** The size of the context as the gauge shows it. */
  readonly before: number
  readonly after: number
  readonly durationMs: number
  readonly tried: readonly Tried[]
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

/** One attempt to make the context smaller, or to get a summary. */
export type Tried = {
  readonly mechanism: string
  readonly outcome: 'declined' | 'failed' | 'done'
  /** Why it declined or failed, for programs. */
  readonly reason?: string
  readonly why: string
}

/** What requests to models have cost. */
export type Spent = {
  readonly usage: TokenCounts
  /** In dollars, if the prices are known. */
  readonly cost?: number | undefined
  /** Requests to a model. */
  readonly attempts?: number | undefined
  /** Of the request that shared the cache: the share of its prompt that was read from there. */
  readonly hitRate?: number | undefined
}

/** How a compaction relates to the one before it. */
export type ChainInfo = {
  /** No human message since the compaction before. */
  readonly isRecompaction: boolean
  readonly turnsSincePrevious?: number
  readonly previousTurnId?: string
  readonly threshold: number
  readonly source: QuerySource
}

export function declined<Reason extends string>(reason: Reason, why: string): Declined<Reason> {
  return { type: 'declined', reason, why }
}

export function failed(reason: FailedReason, why: string, more: Partial<Failed> = {}): Failed {
  return { type: 'failed', reason, why, tried: [], ...more }
}

export const stopped = failed('aborted', 'It was stopped.')

/** For events, which carry no text of the conversation or of a provider. */
export function outcomesOf(tried: readonly Tried[]): readonly string[] {
  return tried.map(({ mechanism, outcome }) => `${mechanism}: ${outcome}`)
}
