// The session as hosts see it. session.ts implements it; engine.ts adds the functions that need the store: recall, read, entries,
// subagent.
import type { CacheWatch } from '../cache/cache-watch.ts'
import type { SnipInput } from '../mechanisms/ranges.ts'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { EngineEvent } from '../ports/events.ts'
import type { HookCall, HookOutcome } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelAnswer, ModelFailure, SendOptions } from '../ports/model.ts'
import type { Compacted, Failed, Tried } from '../ports/outcome.ts'
import type { Recalled } from '../ports/session-store.ts'
import type { Explanation } from '../tokens/explain.ts'
import type { Prediction } from '../tokens/predict.ts'
import type { UndoOptions } from '../transcript/format/edits.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { ModelChoice } from './gauge.ts'
import type { HostState } from './host.ts'
import type { AnswerInput, CompactOptions, MessageInput, RequestInput } from './input.ts'
import type { EditOutcome, Switched, UndoOutcome } from './manual-edits.ts'
import type { Blocked, PrepareOptions, Ready } from './prepare.ts'
import type { Recovery } from './recovery.ts'
import type { CleanUp, MemoryState } from './runtime.ts'
import type { Scheduled } from './scheduled.ts'
import type { Breaker, UsageByPurpose } from './tracking.ts'

export type SessionOptions = RequestInput & {
  /** The model's name, if it is not the client's own. */
  readonly model?: string
  /** Further fields of each record: cwd, version, gitBranch … */
  readonly envelope?: JsonObject
  /** What the host knows about the session besides the conversation. It is restored after a compaction. */
  readonly state?: HostState
  /** For the SessionStart hooks of a new session: `clear` if it replaces one that the user ended. */
  readonly startedBy?: 'startup' | 'clear'
  /** Names the writer, for others who find the session in use. */
  readonly owner?: string
  /** The user of a new session, for erasure. */
  readonly user?: string
}

/** Changes of the conversation before a request was sent. */
export type Preparation = {
  readonly compaction?: Compacted
  /** Messages for the user. */
  readonly notices: readonly string[]
}

export type TurnOptions = SendOptions & {
  /** Called before each request, and again before the second one after a recovery. */
  readonly onPrepared?: (preparation: Preparation) => void
}

export type Turn = {
  /** Every compaction of this turn, oldest first. */
  readonly compactions: readonly Compacted[]
} & (
  | Blocked
  | { readonly type: 'answered'; readonly answer: ModelAnswer; readonly uuid: string; readonly prepared: Ready }
  /** The provider's failure, and the attempts to recover from it. */
  | {
      readonly type: 'failed'
      readonly failure: ModelFailure
      readonly steps: readonly Tried[]
      readonly prepared: Ready
    }
)

/** The size of the context and its limits, when to expect a compaction, and the state of session memory. */
export type SessionExplanation = Explanation & {
  readonly prediction?: Prediction | undefined
  readonly sessionMemory?: MemoryState
}

/** One conversation. Calls run one at a time, in the order in which they are made. */
export type Session = {
  readonly id: string
  /** Set for a sub-agent. */
  readonly agentId: string | undefined
  /** The transcript, if it is a file. */
  readonly path: string | undefined

  /**
   * Adds messages and returns the uuids of their entries. During a request or a compaction they are queued, and added after it.
   *
   *     session.add({ role: 'user', content: 'Rename the column.' })
   */
  readonly add: (messages: MessageInput | readonly MessageInput[]) => readonly string[]

  /**
   * Returns the next request, for hosts that send it themselves. Reduces or compacts the context first, if it is too large.
   *
   *     const request = await session.prepare()
   *     if (request.type === 'ready') answer = await client.messages.create({ ...request.body, model, max_tokens })
   */
  readonly prepare: (options?: PrepareOptions) => Promise<Ready | Blocked>

  /**
   * Adds the answer to a prepared request and returns the uuid of its entry. Its usage corrects the estimates.
   *
   *     session.record(answer)
   */
  readonly record: (answer: AnswerInput) => string

  /**
   * Reports that the answer to the last request will not arrive. Adds the messages that were queued since then.
   *
   *     session.abandonRequest()
   */
  readonly abandonRequest: () => void

  /**
   * Prepares a request, sends it with the engine's model, recovers if it was too long, and records the answer.
   *
   *     const turn = await session.send({ onEvent: (event) => show(event) })
   */
  readonly send: (options?: TurnOptions) => Promise<Turn>

  /**
   * Returns a smaller request after the provider refused one that was too long. `send` does this by itself.
   *
   *     const recovery = await session.recover(failure)
   *     if (recovery.type === 'recovered') answer = await send(recovery.request)
   */
  readonly recover: (failure: ModelFailure, options?: PrepareOptions) => Promise<Recovery>

  /**
   * Replaces the older part of the conversation with a summary now.
   *
   *     await session.compact({ instructions: 'Keep the schema decisions.' })
   */
  readonly compact: (options?: CompactOptions) => Promise<Compacted | Failed>

  /**
   * Requests a compaction before the next request. It passes the checks of an automatic one; the result says what will happen.
   * `compactTool(session)` lets the model ask.
   *
   *     const { isScheduled, why } = session.scheduleCompaction({ instructions: 'Keep the schema decisions.' })
   */
  readonly scheduleCompaction: (options?: Pick<CompactOptions, 'instructions'>) => Scheduled

  /**
   * Returns the size of the context, its limits and their sources.
   *
   *     const { size, percentLeft, autoCompactThreshold } = session.explain()
   */
  readonly explain: () => SessionExplanation

  /**
   * Returns the messages of the next request, before repairs.
   *
   *     console.log(session.messages().length)
   */
  readonly messages: () => readonly ViewMessage[]

  /**
   * Searches everything that was ever said, including what has left the context.
   *
   *     const { matches } = await session.recall('orders_2019', { limit: 5 })
   */
  readonly recall: (words: string, options?: { readonly limit?: number }) => Promise<Recalled>

  /**
   * Returns an original by an id from `recall`, an entry's uuid, or a tool use id. Undefined if there is none.
   *
   *     const original = await session.read(matches[0].id)
   */
  readonly read: (id: string) => Promise<string | undefined>

  /**
   * Returns every entry of the transcript, oldest first.
   *
   *     for (const { record } of await session.entries()) console.log(record.type)
   */
  readonly entries: () => Promise<Iterable<Entry>>

  /**
   * Undoes the newest compaction or edit, except pins and changes with `canUndo: false`. After an undone
   * compaction the next automatic one waits until it is necessary: at the blocking limit, or if a prompt is refused.
   *
   *     const undone = await session.undo()
   */
  readonly undo: () => Promise<UndoOutcome>

  /**
   * Replaces a range of messages with one line.
   *
   *     await session.snip({ from: firstUuid, to: lastUuid, marker: '[A long build log was here.]' })
   */
  readonly snip: (range: SnipInput) => Promise<EditOutcome>

  /**
   * Protects an entry from being cleared, removed or summarized.
   *
   *     await session.pin(uuid)
   */
  readonly pin: (uuid: string) => Promise<EditOutcome>

  /**
   * Removes a pin.
   *
   *     await session.unpin(uuid)
   */
  readonly unpin: (uuid: string) => Promise<EditOutcome>

  /**
   * Returns to the view in which this entry was the newest.
   *
   *     await session.rewind(uuid)
   */
  readonly rewind: (to: string, options?: UndoOptions) => Promise<EditOutcome>

  /**
   * Starts an empty context with the next message. Earlier messages stay in the transcript.
   *
   *     await session.clear()
   */
  readonly clear: (options?: UndoOptions) => Promise<void>

  /**
   * Starts a separate conversation for a sub-agent. Its file is in this session's folder.
   *
   *     const helper = await session.subagent({ system: 'You review code.' })
   */
  readonly subagent: (options?: SessionOptions) => Promise<Session>

  /**
   * Calls the listener with the events of one type, or with every event. Returns a function that removes it.
   *
   *     const off = session.on('compaction-finished', ({ tokensAfter }) => console.log(tokensAfter))
   */
  readonly on: {
    <Type extends EngineEvent['type']>(
      type: Type,
      listener: (event: Extract<EngineEvent, { readonly type: Type }>) => void,
    ): () => void
    (listener: (event: EngineEvent) => void): () => void
  }

  /**
   * Switches to another model. If the history does not fit its window, the old model compacts it first.
   *
   *     await session.useModel({ client: anthropic({ model }), name: model })
   */
  readonly useModel: (choice: ModelChoice, options?: PrepareOptions) => Promise<Switched>

  /**
   * Changes the system prompt, tools and limits of the following requests.
   *
   *     session.configure({ system: 'You answer in French.', tools })
   */
  readonly configure: (base: RequestInput) => void

  /**
   * Returns the state of the session: the current turn, answers since the last compaction, and whether automatic compaction has
   * stopped after failures.
   *
   *     const { turnId, breaker } = session.tracking()
   */
  readonly tracking: () => {
    readonly turnId: string
    readonly turns: number
    readonly breaker: Breaker
    /** Knowledge about the prompt cache. */
    readonly watch: CacheWatch
    /** The last compaction, and whether the user has written since. */
    readonly previous?: { readonly turnId: string; readonly hasHumanSince: boolean }
  }

  /**
   * Returns tokens and cost since the session was opened, by purpose.
   *
   *     console.log(session.spent().compact.cost)
   */
  readonly spent: () => UsageByPurpose

  /**
   * Registers a function that clears host state which a compaction makes invalid. Returns a function that removes it.
   *
   *     session.cleanUp({ name: 'read files', scope: 'conversation', clear: () => readFiles.clear() })
   */
  readonly cleanUp: (owner: CleanUp) => () => void

  /**
   * Runs the hooks of an event that only the host knows of, for example `Stop`. The session runs all other hooks.
   *
   *     const { veto } = await session.runHooks({ event: 'Stop' })
   */
  readonly runHooks: (
    call: HookCall,
    options?: { readonly signal?: AbortSignalPort | undefined },
  ) => Promise<HookOutcome>

  /**
   * Resolves when everything is stored, which in memory and on disk is at once. Throws a StoreError that names what is not
   * stored; another call tries again. `prepare`, `send`, `compact` and edits wait for it.
   *
   *     await session.stored()
   */
  readonly stored: () => Promise<void>

  /**
   * Resolves when the background work (notes, prepared summaries) is done. Only tests need to wait for it.
   *
   *     await session.idle()
   */
  readonly idle: () => Promise<void>

  /**
   * Waits for running calls and releases the transcript. Throws a StoreError if records are not stored, unless an earlier
   * call already threw it for the same records.
   *
   *     await session.close()
   */
  readonly close: () => Promise<void>
}
