// What the loop yields: messages and events, as they come. The host shows them.
import type { EngineEvent, ModelAnswer, ModelFailure, StreamEvent } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import type { Tried } from 'everlong/internal/compaction'

/** Handed from iteration to iteration. */
export type LoopState = {
  readonly turnId: string
  /** Answers since the last compaction, or since the loop began. */
  readonly turn: number
  /** Whether a compaction has happened in this loop. */
  readonly isCompacted: boolean
  /** Automatic compactions in a row that came to nothing. */
  readonly failures: number
}

export type StopReason = 'finished' | 'aborted' | 'blocked' | 'failed' | 'turn-limit'

export type LoopEvent =
  | { readonly type: 'engine'; readonly event: EngineEvent }
  | { readonly type: 'stream'; readonly event: StreamEvent }
  /** After a compaction, one by one: boundary, summary, attachments, what hooks said. */
  | { readonly type: 'record'; readonly record: JsonObject }
  | { readonly type: 'answer'; readonly answer: ModelAnswer; readonly uuid: string }
  | { readonly type: 'tool-started'; readonly toolUseId: string; readonly name: string; readonly input: unknown }
  /** The newest lines that a running command has printed, and how many there are. At most a few times a second. */
  | {
      readonly type: 'tool-output'
      readonly toolUseId: string
      readonly lines: readonly string[]
      readonly total: number
    }
  | {
      readonly type: 'tool-finished'
      readonly toolUseId: string
      readonly name: string
      readonly content: string | readonly JsonObject[]
      readonly isError: boolean
      /** How it changed a file, as a unified diff. */
      readonly diff?: string
    }
  /** Of a sub-agent, after each answer: the size of its conversation, and what it has cost so far. */
  | { readonly type: 'spent'; readonly tokens: number; readonly cost?: number }
  /** What a person should know. */
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'subagent'; readonly toolUseId: string; readonly event: LoopEvent }
  | { readonly type: 'blocked'; readonly why: string; readonly tried: readonly Tried[] }
  | { readonly type: 'failed'; readonly failure: ModelFailure; readonly steps: readonly Tried[] }
  | { readonly type: 'stopped'; readonly why: StopReason; readonly state: LoopState }
