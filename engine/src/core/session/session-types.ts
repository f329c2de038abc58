// A session as hosts see it, and what its calls return.
import type { CompactionDone, CompactionNotDone } from '../ladder/compaction.ts'
import type { Blocked, PrepareOptions, Ready } from '../ladder/prepare.ts'
import type { Recovery } from '../ladder/recovery.ts'
import type { SnipInput } from '../mechanisms/snip.ts'
import type { ViewMessage } from '../message/message.ts'
import type { EngineEvent, Tried } from '../ports/events.ts'
import type { HookCall, HookOutcome } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelAnswer, ModelFailure, SendOptions } from '../ports/model.ts'
import type { Explanation } from '../tokens/explain.ts'
import type { Prediction } from '../tokens/predict.ts'
import type { CleanUp } from './callbacks.ts'
import type { ModelChoice } from './gauge.ts'
import type { AnswerInput, MessageInput } from './input.ts'
import type { EditOutcome, Switched, UndoOutcome } from './manual-edits.ts'
import type { RequestInput } from './request-input.ts'
import type { MemoryState } from './runtime.ts'
import type { Tracking } from './tracking.ts'
import type { UsageByPurpose } from './usage.ts'

export type CompactOptions = {
  readonly instructions?: string
  /** Summarize from this entry on, or up to it; everything when neither is given. */
  readonly from?: string
  readonly upTo?: string
  readonly signal?: AbortSignalPort
}

/** What was done to the conversation before a request was sent. */
export type Preparation = {
  readonly compaction?: CompactionDone
  /** What a person should know. */
  readonly notices: readonly string[]
}

export type TurnOptions = SendOptions & {
  /** Called before each request is sent: before the first, and before the second one after a recovery. */
  readonly onPrepared?: (preparation: Preparation) => void
}

export type Turn = {
  /** Every compaction that was applied during the turn, oldest first. */
  readonly compactions: readonly CompactionDone[]
} & (
  | { readonly type: 'answered'; readonly answer: ModelAnswer; readonly uuid: string; readonly prepared: Ready }
  | Blocked
  /** The provider's own failure, and what was tried about it. */
  | {
      readonly type: 'failed'
      readonly failure: ModelFailure
      readonly steps: readonly Tried[]
      readonly prepared: Ready
    }
)

/** The numbers that everybody sees, when to expect a compaction, and the state of session memory. */
export type SessionExplanation = Explanation & {
  readonly prediction?: Prediction | undefined
  readonly sessionMemory?: MemoryState
}

export type Session = {
  readonly id: string
  /** Of a sub-agent. */
  readonly agentId: string | undefined
  /** Of the transcript, if it is a file. */
  readonly path: string | undefined
  /** Returns the uuids of the entries. During a request or a compaction they are queued and added after it. */
  readonly add: (messages: MessageInput | readonly MessageInput[]) => readonly string[]
  readonly prepare: (options?: PrepareOptions) => Promise<Ready | Blocked>
  readonly record: (answer: AnswerInput) => string
  /** Prepare, send, recover if the prompt was too long, record. */
  readonly send: (options?: TurnOptions) => Promise<Turn>
  /** For hosts that send requests themselves: what to send instead of a prompt that was too long. */
  readonly recover: (failure: ModelFailure, options?: PrepareOptions) => Promise<Recovery>
  readonly compact: (options?: CompactOptions) => Promise<CompactionDone | CompactionNotDone>
  readonly explain: () => SessionExplanation
  /** What the next request would carry, before it is repaired. */
  readonly messages: () => readonly ViewMessage[]
  readonly undo: () => Promise<UndoOutcome>
  readonly snip: (input: SnipInput) => Promise<EditOutcome>
  readonly pin: (uuid: string) => Promise<EditOutcome>
  readonly unpin: (uuid: string) => Promise<EditOutcome>
  /** Goes back to the view in which this entry was the newest. */
  readonly rewind: (to: string) => Promise<EditOutcome>
  readonly useModel: (choice: ModelChoice, options?: PrepareOptions) => Promise<Switched>
  /** Changes what every request carries: system prompt, tools, limits. */
  readonly configure: (base: RequestInput) => void
  readonly tracking: () => Tracking
  /** Tokens and cost since the session was opened, by purpose. */
  readonly spent: () => UsageByPurpose
  /** Registers how to clear something that a compaction makes invalid. Returns a function that unregisters it. */
  readonly cleanUp: (owner: CleanUp) => () => void
  /**
   * Resolves when everything so far is stored; at once in memory and on disk. Throws a StoreError that names what is
   * not stored; calling it again tries again. `prepare`, `send`, `compact` and edits wait for it by themselves.
   */
  readonly stored: () => Promise<void>
  /** Resolves when the background work (notes, staged summaries) is done. Nobody has to wait for it. */
  readonly idle: () => Promise<void>
  /**
   * Runs the hooks of an event that only the host knows of: `Stop`, `PermissionRequest`. Hooks of the session and its
   * compactions run by themselves.
   */
  readonly runHooks: (
    call: HookCall,
    options?: { readonly signal?: AbortSignalPort | undefined },
  ) => Promise<HookOutcome>
  readonly on: (listener: (event: EngineEvent) => void) => () => void
  /** Waits for what is running and releases the transcript. */
  readonly close: () => Promise<void>
}
