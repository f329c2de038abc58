// A session as hosts see it, and what its calls bring back.

import type { CompactionDone, CompactionNotDone } from '../ladder/compaction.ts'
import type { Blocked, PrepareOptions, Ready } from '../ladder/prepare.ts'
import type { Recovery } from '../ladder/reactive.ts'
import type { SnipInput } from '../mechanisms/snip.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { turnsOf } from '../message/rounds.ts'
import { contextTokens } from '../message/usage.ts'
import type { EngineEvent, Tried } from '../ports/events.ts'
import type { HookCall, HookOutcome } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelAnswer, ModelFailure, SendOptions } from '../ports/model.ts'
import type { Explanation } from '../tokens/explain.ts'
import { type Prediction, predictCompaction, type TurnSize } from '../tokens/predict.ts'
import type { View } from '../transcript/view/fold.ts'
import type { CleanUp } from './clean-up.ts'
import { type Desk, explainDesk, type ModelChoice, type RequestBase } from './desk.ts'
import type { GivenAnswer, GivenMessage } from './given.ts'
import type { EditOutcome, UndoOutcome } from './hands.ts'
import { type MemoryState, memoryState } from './memory-keeper.ts'
import type { Switched } from './model-switch.ts'
import type { Spent } from './spent.ts'
import type { Tracking } from './tracking.ts'

export type CompactOptions = {
  readonly instructions?: string
  /** Summarise what comes after this entry, or up to it; all of it when neither is given. */
  readonly from?: string
  readonly upTo?: string
  readonly signal?: AbortSignalPort
}

/** What was done to the conversation before a request could go out. */
export type Preparation = {
  readonly compaction?: CompactionDone
  /** What a person should know. */
  readonly notices: readonly string[]
}

export type TurnOptions = SendOptions & {
  /** Called before each request goes out: before the first, and before the second one that follows a recovery. */
  readonly onPrepared?: (preparation: Preparation) => void
}

/** How a whole turn went. */
export type Turn = {
  /** Every compaction that was applied on the way, the oldest first. */
  readonly compactions: readonly CompactionDone[]
} & (
  | { readonly type: 'answered'; readonly answer: ModelAnswer; readonly uuid: string; readonly prepared: Ready }
  | Blocked
  /** The failure as the provider told it, and what was tried about it. */
  | {
      readonly type: 'failed'
      readonly failure: ModelFailure
      readonly steps: readonly Tried[]
      readonly prepared: Ready
    }
)

/** The numbers that everybody sees, when a compaction is to be expected, and what session memory is up to. */
export type SessionExplanation = Explanation & {
  readonly prediction?: Prediction | undefined
  readonly sessionMemory?: MemoryState
}

export function explainSession(desk: Desk): SessionExplanation {
  const explanation = explainDesk(desk)
  const { size, autoCompactThreshold } = explanation
  const turns = turnSizes(desk.conversation.view(), size.tokens)
  const prediction = predictCompaction(turns, autoCompactThreshold.value)
  return {
    ...explanation,
    ...(prediction ? { prediction } : {}),
    ...(desk.memory ? { sessionMemory: memoryState(desk.memory) } : {}),
  }
}

/** How full the context was at the end of each turn in the view, and now. A turn begins with what a person asked. */
function turnSizes({ messages }: View, now: number): readonly TurnSize[] {
  const ended = turnsOf(messages, ({ origin }) => isRequest(origin)).flatMap(({ start, end }): readonly TurnSize[] => {
    const last = messages.slice(start, end).findLast(({ usage }) => usage !== undefined)
    return last?.usage ? [{ tokens: contextTokens(last.usage), time: last.time }] : []
  })
  const last = ended.at(-1)
  return last ? [...ended.slice(0, -1), { ...last, tokens: now }] : []
}

export type Session = {
  readonly id: string
  /** Of a sub-agent. */
  readonly agentId: string | undefined
  /** Where the transcript lies, when it is a file. */
  readonly path: string | undefined
  /** Returns the uuids of the entries. While a request or a compaction is under way they are held, and come after it. */
  readonly add: (messages: GivenMessage | readonly GivenMessage[]) => readonly string[]
  readonly prepare: (options?: PrepareOptions) => Promise<Ready | Blocked>
  readonly record: (answer: GivenAnswer) => string
  /** Prepare, send, recover if the prompt was too long, record. */
  readonly send: (options?: TurnOptions) => Promise<Turn>
  /** For hosts that send by themselves: what to send instead after a prompt was too long. */
  readonly recover: (failure: ModelFailure, options?: PrepareOptions) => Promise<Recovery>
  readonly compact: (options?: CompactOptions) => Promise<CompactionDone | CompactionNotDone>
  readonly explain: () => SessionExplanation
  /** What the next request would carry, before it is mended. */
  readonly messages: () => readonly ViewMessage[]
  readonly undo: () => Promise<UndoOutcome>
  readonly snip: (input: SnipInput) => Promise<EditOutcome>
  readonly pin: (uuid: string) => Promise<EditOutcome>
  readonly unpin: (uuid: string) => Promise<EditOutcome>
  /** The view is what it was when this entry was the newest. */
  readonly rewind: (to: string) => Promise<EditOutcome>
  readonly useModel: (choice: ModelChoice, options?: PrepareOptions) => Promise<Switched>
  /** What goes with every request: system prompt, tools, limits. */
  readonly configure: (base: RequestBase) => void
  readonly tracking: () => Tracking
  /** What was used since it was opened, a line for each purpose. */
  readonly spent: () => Spent
  /** Whoever keeps something that a compaction makes void says here how to clear it. Returns how to take it back. */
  readonly cleanUp: (owner: CleanUp) => () => void
  /** When the work in the background (notes, staged summaries) is done. Nobody has to wait for it. */
  readonly idle: () => Promise<void>
  /**
   * Runs the hooks of an event that only the host can see: `Stop`, `PermissionRequest`. Those of the session and of its
   * compactions run by themselves.
   */
  readonly runHooks: (
    call: HookCall,
    options?: { readonly signal?: AbortSignalPort | undefined },
  ) => Promise<HookOutcome>
  readonly on: (listener: (event: EngineEvent) => void) => () => void
  /** Waits for what is under way and gives the transcript back. */
  readonly close: () => Promise<void>
}
