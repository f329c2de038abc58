// The messages and events that the loop yields. The host shows them.
import type { EngineEvent, ModelAnswer, ModelFailure, StreamEvent } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import type { Tried } from 'everlong/internal/compaction'

/** Passed from iteration to iteration. */
export type LoopState = {
  readonly turnId: string
  /** Answers since the last compaction, or since the loop began. */
  readonly turn: number
  /** Whether a compaction has happened in this loop. */
  readonly isCompacted: boolean
  /** Automatic compactions in a row without a result. */
  readonly failures: number
}

export type StopReason = 'finished' | 'aborted' | 'blocked' | 'failed' | 'turn-limit'

export type LoopEvent =
  | { readonly type: 'engine'; readonly event: EngineEvent }
  | { readonly type: 'stream'; readonly event: StreamEvent }
  /** The records of a compaction, one by one: boundary, summary, attachments, output of hooks. */
  | { readonly type: 'record'; readonly record: JsonObject }
  | { readonly type: 'answer'; readonly answer: ModelAnswer; readonly uuid: string }
  | { readonly type: 'tool-started'; readonly toolUseId: string; readonly name: string; readonly input: unknown }
  /** The newest output lines of a running command, and their total number. Sent at most a few times per second. */
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
  /** After each answer of a sub-agent: the size of its conversation, and its cost so far. */
  | { readonly type: 'spent'; readonly tokens: number; readonly cost?: number }
  /** Information for the person. */
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'subagent'; readonly toolUseId: string; readonly event: LoopEvent }
  | { readonly type: 'blocked'; readonly why: string; readonly tried: readonly Tried[] }
  | { readonly type: 'failed'; readonly failure: ModelFailure; readonly steps: readonly Tried[] }
  | { readonly type: 'stopped'; readonly why: StopReason; readonly state: LoopState }
