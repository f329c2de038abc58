// The events of the engine, for telemetry, the command line and hosts. No event carries text of the conversation.
import type { TokenCounts } from '../message/usage.ts'
import type { Trigger } from './hooks.ts'
import type { QuerySource } from './model.ts'

export type CompactionPhase = 'hooks-before' | 'summarizing' | 'verifying' | 'restoring' | 'committing' | 'hooks-after'

export type CompactionFailure =
  | 'no_summary'
  | 'api_error'
  | 'prompt_too_long'
  | 'no_progress'
  | 'aborted'
  | 'vetoed'
  | 'nothing_to_compact'
  | 'write_failed'

/** One attempt to make the context smaller, or to get a summary, and how it went. */
export type Tried = {
  readonly mechanism: string
  readonly outcome: 'declined' | 'failed' | 'done'
  readonly why: string
  readonly reason?: CompactionFailure
}

/** Which piece of host code a problem comes from. Problems of hooks have an event of their own. */
export type HostCode =
  | 'listener'
  | 'clean-up'
  | 'state'
  | 'ask'
  | 'files'
  | 'redact'
  | 'retain'
  | 'summary-prompt'
  | 'tokenizer'
  | 'restore'
  | 'workspace'
  | 'mechanism'
  | 'model'

/** Whose event it is. Events of `compact(messages)` belong to no session. */
export type EventSource = {
  readonly sessionId?: string
  /** Of a sub-agent. */
  readonly agentId?: string
}

export type EngineEvent = EventSource & WhatHappened

type Reduced = { readonly mechanism: string; readonly tokensBefore: number; readonly tokensAfter: number }
type Spent = { readonly usage: TokenCounts; readonly cost?: number }
/** What was done to get a summary, whether one came of it or not. */
type Attempted = Spent & {
  /** Requests to a model. */
  readonly attempts: number
  /** Of the request that shared the cache: the share of its prompt that was read from there. */
  readonly hitRate?: number
  /** Mechanisms and their outcomes, in order: `cache-sharing: failed`. */
  readonly tried: readonly string[]
  readonly durationMs: number
}

type WhatHappened =
  | {
      readonly type: 'threshold-checked'
      readonly tokens: number
      readonly threshold: number
      readonly effectiveWindow: number
      readonly freedBySnips: number
      readonly source: QuerySource
    }
  | { readonly type: 'threshold-crossed'; readonly state: string; readonly tokens: number; readonly threshold: number }
  | ({ readonly type: 'micro-compacted'; readonly results: number } & Reduced)
  | { readonly type: 'compaction-started'; readonly trigger: Trigger; readonly tokens: number }
  | {
      readonly type: 'compaction-progressed'
      readonly phase: CompactionPhase
      readonly outputTokens?: number
      /** Every 30 seconds while a summary runs, so that no connection times out. */
      readonly keepAlive?: boolean
    }
  | ({
      readonly type: 'compaction-finished'
      readonly trigger: Trigger
      readonly chain: ChainInfo
      readonly restored: number
    } & Reduced &
      Attempted)
  | ({
      readonly type: 'compaction-failed'
      readonly trigger: Trigger
      readonly reason: CompactionFailure
      readonly detail: string
    } & Attempted)
  | ({ readonly type: 'mechanism-tried' } & Omit<Tried, 'reason'>)
  | {
      readonly type: 'prompt-too-long-retried'
      readonly attempt: number
      readonly dropped: number
      readonly left: number
    }
  | ({ readonly type: 'memory-extracted'; readonly tokens: number } & Spent)
  | ({ readonly type: 'collapse-staged'; readonly tokens: number } & Spent)
  | { readonly type: 'memory-failed'; readonly reason: string; readonly failures: number; readonly usage: TokenCounts }
  | { readonly type: 'memory-declined'; readonly reason: string }
  | { readonly type: 'collapse-failed'; readonly reason: string; readonly usage: TokenCounts }
  | { readonly type: 'file-restored'; readonly path: string; readonly tokens: number }
  | { readonly type: 'file-not-restored'; readonly path: string; readonly reason: string }
  /** Cleared results could not be stored next to the session. The transcript has them. */
  | { readonly type: 'results-not-stored'; readonly reason: string }
  | { readonly type: 'cache-broken'; readonly why: string; readonly tokens: number; readonly cost?: number }
  | { readonly type: 'breaker-tripped'; readonly failures: number }
  | { readonly type: 'still-over-threshold'; readonly tokens: number; readonly threshold: number }
  | { readonly type: 'overflow-recovered'; readonly steps: readonly string[]; readonly tokens: number }
  | { readonly type: 'overflow-unrecovered'; readonly steps: readonly string[] }
  | { readonly type: 'limit-learned'; readonly endpoint: string; readonly model: string; readonly limit: number }
  | { readonly type: 'hook-reported'; readonly event: string; readonly problem: string }
  /** Code of the host threw, hung, or returned something of the wrong shape. The session goes on without it. */
  | { readonly type: 'host-code-failed'; readonly code: HostCode; readonly problem: string }

/** How a compaction relates to the one before it. */
export type ChainInfo = {
  /** No human message since the compaction before. */
  readonly isRecompaction: boolean
  readonly turnsSincePrevious?: number
  readonly previousTurnId?: string
  readonly threshold: number
  readonly source: QuerySource
}

export type Emit = (event: EngineEvent) => void

/** For events, which carry no text of the conversation or of a provider. */
export function outcomesOf(tried: readonly Tried[]): readonly string[] {
  return tried.map(({ mechanism, outcome }) => `${mechanism}: ${outcome}`)
}
