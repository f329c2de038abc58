// The seam to a model: one request, one answer or one failure that says why. Implementations are in engine/src/models;
// nobody in core knows which provider answers.
import type { Block } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'

/** What a request is for. Only a turn may lead to a compaction: the others would wait for themselves. */
export type QuerySource = 'turn' | 'compact' | 'session-memory' | 'collapse'

export type ModelRequest = {
  readonly source: QuerySource
  readonly model: string
  readonly system?: string | readonly Block[]
  readonly tools?: readonly JsonObject[]
  readonly messages: readonly Message[]
  /** Left out: the client's own for turns. A summary that shares the cache must not set one. */
  readonly maxTokens?: number
  readonly thinking?: JsonObject
  readonly betas?: readonly string[]
  /** Everything else of the Messages API, as it stands: cache_control, context_management, tool_choice, metadata … */
  readonly options?: JsonObject
}

export type ModelAnswer = {
  readonly type: 'answer'
  readonly id: string
  readonly model: string
  readonly content: readonly Block[]
  readonly stopReason: string
  readonly usage: Usage
  /** What the API says besides: context_management, diagnostics, input_transformations. */
  readonly extra?: JsonObject
}

export type FailureReason =
  | 'overflow' // the prompt is too long for the window
  | 'too-large' // bytes, not tokens: media is the first to go
  | 'aborted'
  | 'transient' // retried, and still failing
  | 'refused' // authentication, permission, billing, an unknown model
  | 'invalid' // the request itself is wrong

export type ModelFailure = {
  readonly type: 'failed'
  readonly reason: FailureReason
  /** In the provider's words. */
  readonly message: string
  readonly status?: number
  /** The provider's own name for it, where it has one: `compaction_nothing_to_summarize`, `context_length_exceeded` … */
  readonly code?: string
  /** Of an overflow, as far as the words can be read. */
  readonly overflow?: Overflow
  /** Images and document pages together, and how many of them a request may hold. */
  readonly media?: { readonly count: number; readonly limit: number }
  /** How often it was sent. */
  readonly tries: number
  /** When the server would be asked again, as it said, where waiting so long was not wanted. */
  readonly retryAfterMs?: number
}

export type Overflow = {
  /** Tokens of the prompt. */
  readonly actual?: number
  /** What the window takes. */
  readonly limit?: number
  /** Input and output together are too much: asking for less output may be enough. */
  readonly maxTokens?: number
}

export type ModelCapabilities = {
  readonly window?: number
  readonly maxOutput?: number
  /** Deletes parts of a cached prefix. */
  readonly cacheEdits: boolean
  /** Takes `context_management`. */
  readonly contextManagement: boolean
  /** Summarizes on the server: when a threshold is passed, on demand. */
  readonly compaction: 'none' | 'by-threshold' | 'on-demand'
  /** Keeps a prompt cache that a summary request can share. */
  readonly promptCache: boolean
  /** Answers without a model: deterministic, free, and no conversation partner. */
  readonly offline: boolean
}

export type StreamEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** Tokens of the answer so far, by estimate. */
  | { readonly type: 'progress'; readonly outputTokens: number }
  /** Sent again after the wait: what came before belongs to a try that came to nothing. */
  | { readonly type: 'retrying'; readonly attempt: number; readonly waitMs: number; readonly why: string }

export type SendOptions = {
  readonly signal?: AbortSignalPort
  /** As the answer comes. Never asked to wait. */
  readonly onEvent?: (event: StreamEvent) => void
}

/** As much of an AbortSignal as core looks at and hands on. */
export type AbortSignalPort = {
  readonly aborted: boolean
  readonly addEventListener: (type: 'abort', listener: () => void, options?: { readonly once?: boolean }) => void
  readonly removeEventListener: (type: 'abort', listener: () => void) => void
}

export type ModelClient = {
  /** `anthropic`, `openai`, `offline`, `recorded`. */
  readonly provider: string
  /** The model of requests that name none. */
  readonly model: string
  /** The address, where there is one: learned limits belong to it and a model. */
  readonly endpoint?: string
  readonly capabilities: (model: string) => ModelCapabilities
  /** Streams; an expected failure is a value. Retries what is transient, never an overflow. */
  readonly send: (request: ModelRequest, options?: SendOptions) => Promise<ModelAnswer | ModelFailure>
  /** Counts without answering, where the provider offers it. */
  readonly count?: (request: ModelRequest, options?: SendOptions) => Promise<CountedTokens | ModelFailure>
  /** Asks the provider about a model, once; from then on `capabilities` knows it better than the catalog. */
  readonly describe?: (model: string, options?: SendOptions) => Promise<DescribedModel | ModelFailure>
}

export type DescribedModel = {
  readonly type: 'described'
  readonly model: string
  readonly capabilities: ModelCapabilities
}

export type CountedTokens = { readonly type: 'counted'; readonly tokens: number }
