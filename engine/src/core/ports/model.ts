// The port to a model: one request, one answer or one failure that says why. Implementations are in engine/src/models.

import type { JsonObject } from '../message/json.ts'
import type { Block, Message } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'

/** The purpose of a request. Only a turn may cause a compaction; the others would wait for themselves. */
export type QuerySource = 'turn' | 'compact' | 'session-memory' | 'collapse'

export type ModelRequest = {
  readonly source: QuerySource
  readonly model: string
  readonly system?: string | readonly Block[]
  readonly tools?: readonly JsonObject[]
  readonly messages: readonly Message[]
  /** Default: the client's own. A summary that shares the cache must not set one. */
  readonly maxTokens?: number
  readonly thinking?: JsonObject
  readonly betas?: readonly string[]
  /** Everything else of the Messages API: cache_control, context_management, tool_choice, metadata … */
  readonly options?: JsonObject
}

export type ModelAnswer = {
  readonly type: 'answer'
  readonly id: string
  readonly model: string
  readonly content: readonly Block[]
  readonly stopReason: string
  readonly usage: Usage
  /** Other fields of the API: context_management, diagnostics, input_transformations. */
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
  /** The provider's code, if it sent one: `compaction_nothing_to_summarize`, `context_length_exceeded` … */
  readonly code?: string
  readonly overflow?: Overflow
  /** Images and document pages in the request, and how many are allowed. */
  readonly media?: { readonly count: number; readonly limit: number }
  /** Number of times it was sent. */
  readonly tries: number
  /** The wait that the server asked for, if it was too long for a retry. */
  readonly retryAfterMs?: number
}

export type Overflow = {
  readonly actual?: number
  readonly limit?: number
  /** Set if input and output together are too long, so that a smaller output may be enough. */
  readonly maxTokens?: number
}

export type ModelCapabilities = {
  readonly window?: number
  readonly maxOutput?: number
  /** Deletes parts of a cached prefix. */
  readonly cacheEdits: boolean
  /** Accepts `context_management`. */
  readonly contextManagement: boolean
  /** Summarizes on the server: at a threshold, or also on demand. */
  readonly compaction: 'none' | 'by-threshold' | 'on-demand'
  readonly promptCache: boolean
  /** Answers without a model: deterministic and free. */
  readonly offline: boolean
}

/** For unknown models. */
export const noCapabilities: ModelCapabilities = {
  cacheEdits: false,
  contextManagement: false,
  compaction: 'none',
  promptCache: false,
  offline: false,
}

export type StreamEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** Tokens of the answer so far, estimated. */
  | { readonly type: 'progress'; readonly outputTokens: number }
  /** The request is sent again after the wait. Text streamed before belongs to the failed attempt. */
  | { readonly type: 'retrying'; readonly attempt: number; readonly waitMs: number; readonly why: string }

export type SendOptions = {
  readonly signal?: AbortSignalPort
  /** Called while the answer streams. Its result is not awaited. */
  readonly onEvent?: (event: StreamEvent) => void
}

/** The part of AbortSignal that core uses. */
export type AbortSignalPort = {
  readonly aborted: boolean
  readonly addEventListener: (type: 'abort', listener: () => void, options?: { readonly once?: boolean }) => void
  readonly removeEventListener: (type: 'abort', listener: () => void) => void
}

export type ModelClient = {
  /** `anthropic`, `openai`, `offline`, `recorded`. */
  readonly provider: string
  /** The model for requests that do not name one. */
  readonly model: string
  /** Learned limits belong to an endpoint and a model. */
  readonly endpoint?: string
  readonly capabilities: (model: string) => ModelCapabilities
  /** Streams. An expected failure is a value. Retries transient failures, but never an overflow. */
  readonly send: (request: ModelRequest, options?: SendOptions) => Promise<ModelAnswer | ModelFailure>
  /** Asks the provider about a model, once. From then on, `capabilities` has its values instead of the catalog's. */
  readonly describe?: (model: string, options?: SendOptions) => Promise<DescribedModel | ModelFailure>
  /** Asks the provider to count the tokens of a request without answering it. */
  readonly count?: (request: ModelRequest, options?: SendOptions) => Promise<CountedTokens | ModelFailure>
}

export type CountedTokens = { readonly type: 'counted'; readonly inputTokens: number }

export type DescribedModel = {
  readonly type: 'described'
  readonly model: string
  readonly capabilities: ModelCapabilities
}

/** Turns texts into vectors, for hosts with an embedding model. Recall then also finds texts that share no word with the query. */
export type Embedder = {
  /** Identifies the model and its settings. Vectors with another name are not compared but computed again. */
  readonly name: string
  /** One vector for each text, all of the same length. */
  readonly embed: (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>
}
