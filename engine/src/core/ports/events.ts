// The events of the engine, for telemetry, the command line and hosts. No event carries text of the conversation.
import type { MissReason, TokenCounts } from '../message/usage.ts'
import type { Trigger } from './hooks.ts'
import type { QuerySource } from './model.ts'
import type { ChainInfo, FailedReason, Tried } from './outcome.ts'

export type CompactionPhase = 'hooks-before' | 'summarizing' | 'verifying' | 'restoring' | 'committing' | 'hooks-after'

/** The host code that a problem comes from. Problems of hooks have their own event. */
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

/** The session of an event. Absent for events of `compact(messages)`. */
export type EventSource = {
  readonly sessionId?: string
  /** Set for a sub-agent. */
  readonly agentId?: string
}

type Sizes = { readonly mechanism: string; readonly tokensBefore: number; readonly tokensAfter: number }
type Paid = { readonly usage: TokenCounts; readonly cost?: number }
/** The attempts to get a summary, successful or not. */
type Attempted = Paid & {
  /** Requests to a model. */
  readonly attempts: number
  /** The share of its prompt that the cache-sharing request read from the cache. */
  readonly hitRate?: number
  /** Mechanisms and their outcomes, in order: `cache-sharing: failed`. */
  readonly tried: readonly string[]
  readonly durationMs: number
}

/** Everything that a session reports, by `type`. No event carries text of the conversation. */
export type EngineEvent =
  /** Before each request: the size of the context and the size at which it is compacted. */
  (
    | {
        readonly type: 'threshold-checked'
        readonly tokens: number
        readonly threshold: number
        readonly effectiveWindow: number
        readonly freedBySnips: number
        readonly source: QuerySource
      }
    /** The context became so large that its state changed: warning, error, auto-compact or blocking. */
    | {
        readonly type: 'threshold-crossed'
        readonly state: string
        readonly tokens: number
        readonly threshold: number
      }
    /** Old tool results were cleared without a model. */
    | ({ readonly type: 'micro-compacted'; readonly results: number } & Sizes)
    /** A compaction starts. `compaction-finished` or `compaction-failed` follows. */
    | { readonly type: 'compaction-started'; readonly trigger: Trigger; readonly tokens: number }
    /** A compaction enters its next phase, or its summary grows. */
    | {
        readonly type: 'compaction-progressed'
        readonly phase: CompactionPhase
        readonly outputTokens?: number
        /** Every 30 seconds while a summary runs, so that no connection times out. */
        readonly keepAlive?: boolean
      }
    /** A compaction replaced the older part of the conversation with a summary. */
    | ({
        readonly type: 'compaction-finished'
        readonly trigger: Trigger
        readonly chain: ChainInfo
        readonly restored: number
      } & Sizes &
        Attempted)
    /** A compaction ended without a summary. The conversation is unchanged. */
    | ({
        readonly type: 'compaction-failed'
        readonly trigger: Trigger
        readonly reason: FailedReason
        readonly why: string
      } & Attempted)
    /** A mechanism made the context smaller, declined, or failed. */
    | ({ readonly type: 'mechanism-tried' } & Tried)
    /** The request for a summary was too long. It is sent again without its oldest messages. */
    | {
        readonly type: 'prompt-too-long-retried'
        readonly attempt: number
        readonly dropped: number
        readonly left: number
      }
    /** Notes for session memory were written in the background. */
    | ({ readonly type: 'memory-extracted'; readonly tokens: number } & Paid)
    /** A summary of a finished span was prepared in the background. */
    | ({ readonly type: 'collapse-staged'; readonly tokens: number } & Paid)
    /** Notes could not be written. */
    | {
        readonly type: 'memory-failed'
        readonly reason: string
        readonly failures: number
        readonly usage: TokenCounts
      }
    /** A compaction did not use the notes. */
    | { readonly type: 'memory-declined'; readonly reason: string }
    /** A summary of a finished span could not be prepared. */
    | { readonly type: 'collapse-failed'; readonly reason: string; readonly usage: TokenCounts }
    /** After a compaction a file was put into the context again. */
    | { readonly type: 'file-restored'; readonly path: string; readonly tokens: number }
    /** After a compaction a file was left out. */
    | { readonly type: 'file-not-restored'; readonly path: string; readonly reason: string }
    /** Cleared results could not be stored next to the session. The transcript has them. */
    | { readonly type: 'results-not-stored'; readonly reason: string }
    /** A worker thread did not start or ended, so this part of a compaction ran on the main thread (`worker: true` of everlong/node). */
    | { readonly type: 'worker-failed'; readonly task: string; readonly problem: string }
    /**
     * An answer's usage shows that its request missed the cached prefix. `cost`: extra dollars compared to a hit.
     * `spent().turn.cache` counts the reasons.
     */
    | {
        readonly type: 'cache-missed'
        readonly reason: MissReason
        readonly why: string
        readonly tokens: number
        readonly cost?: number
      }
    /**
     * Before a request: the cache has expired, so the whole context is written to it again. In dollars: the cost of the request,
     * its cost with the cache, and, only if lower, the cost of a compaction plus the request.
     */
    | {
        readonly type: 'cache-cold'
        readonly tokens: number
        /** Milliseconds since the cache expired. */
        readonly expiredMs: number
        readonly cost?: number
        readonly warmCost?: number
        readonly compactFirst?: number
      }
    /**
     * An adapter got a history that no session knows: after a restart or an eviction without a store, or because the store has no
     * such session (`hasStore`). All of it is sent once more, and summarized again if it is too long. `cost`: dollars to send it
     * once without a cache.
     */
    | {
        readonly type: 'history-imported'
        readonly messages: number
        readonly tokens: number
        readonly hasStore: boolean
        readonly cost?: number
      }
    /** Automatic compaction stops after failures in a row. */
    | { readonly type: 'breaker-tripped'; readonly failures: number }
    /** The context is over the threshold although every mechanism was tried. */
    | { readonly type: 'still-over-threshold'; readonly tokens: number; readonly threshold: number }
    /** The provider refused a prompt as too long, and a smaller one was accepted. */
    | { readonly type: 'overflow-recovered'; readonly steps: readonly string[]; readonly tokens: number }
    /** The provider refused a prompt as too long, and nothing made it small enough. */
    | { readonly type: 'overflow-unrecovered'; readonly steps: readonly string[] }
    /** A refusal showed that the window of a model is smaller than assumed. */
    | { readonly type: 'limit-learned'; readonly endpoint: string; readonly model: string; readonly limit: number }
    /** A hook failed or returned something invalid. The session continues without it. */
    | { readonly type: 'hook-reported'; readonly event: string; readonly problem: string }
    /** Code of the host threw, did not return, or returned a value of the wrong shape. The session continues without it. */
    | { readonly type: 'host-code-failed'; readonly code: HostCode; readonly problem: string }
  ) &
    EventSource

export type Emit = (event: EngineEvent) => void
