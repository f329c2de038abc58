// The session of session-api.ts. It keeps calls in order and passes each on to the function that does the work.
import { turnsIn } from '../mechanisms/measure.ts'
import { defined, stringAt } from '../message/json.ts'
import type { EngineEvent } from '../ports/events.ts'
import { type HookCall, runHooks } from '../ports/hooks.ts'
import type { ModelRequest } from '../ports/model.ts'
import { type Compacted, type Failed, failed } from '../ports/outcome.ts'
import { callNow, type Listeners, type Stop, safeModel } from '../ports/safely.ts'
import { StoreError } from '../ports/session-store.ts'
import { compactionOff } from '../settings/resolve.ts'
import { endingNow, predictCompaction } from '../tokens/predict.ts'
import { type BackgroundCompaction, compactNow, startInBackground } from './compact.ts'
import { compactInput, parseAnswer, parseMessages, requestBase, snipInput } from './input.ts'
import { clearContext, editEntry, snipRange, switchModel, undoNewest } from './manual-edits.ts'
import { type Blocked, type PrepareOptions, prepareTurn, type Ready } from './prepare.ts'
import { createMessageQueue, createMutex, type QueuedMessage } from './queue.ts'
import { failureIfEmpty, isAboutLength, recover, reportRecovery } from './recovery.ts'
import type { Runtime } from './runtime.ts'
import { scheduleCompaction, startIdleTimer } from './scheduled.ts'
import type { Preparation, Session } from './session-api.ts'
import { afterChange } from './tracking.ts'
import { type RecordInput, recordAnswer } from './turn.ts'

/** The part of a session that does not need the store. */
export type OwnSession = Omit<Session, 'recall' | 'read' | 'entries' | 'subagent'>

export type SessionInput = {
  readonly runtime: Runtime
  readonly listeners: Listeners
  /** Messages that were still queued when the session was last closed. */
  readonly queued?: readonly QueuedMessage[]
  readonly close: () => void | Promise<void>
}

/** Throws a ConfigurationError, before anything is written, when the settings cannot work. */
export function createSession(input: SessionInput): OwnSession {
  return new ManagedSession(input)
}

class ManagedSession implements OwnSession {
  readonly id: string
  readonly agentId: string | undefined
  readonly path: string | undefined
  private readonly input: SessionInput
  private readonly runtime: Runtime
  private readonly queue: ReturnType<typeof createMessageQueue>
  private readonly mutex = createMutex(() => this.flush())
  private background: BackgroundCompaction | undefined
  /** Answers that came during a compaction. */
  private lateAnswers: readonly (() => void)[] = []
  private sent: RecordInput['sent'] = {}
  /** A request whose answer has not come yet. */
  private pending: RecordInput['pending']
  private idleTimer: Stop | undefined
  /** Whether there are answers that the background workers have not seen. */
  private hasImported = false

  constructor(input: SessionInput) {
    const { sessionId, transcript, envelope } = input.runtime.conversation.place()
    this.id = sessionId
    this.agentId = stringAt(envelope, 'agentId')
    this.path = transcript
    this.input = input
    this.runtime = input.runtime
    // Settings that cannot work are reported now, not in the middle of a turn.
    this.runtime.gauge.explanation()
    this.queue = createMessageQueue(this.runtime, input.queued)
    this.queue.flush()
  }

  add: Session['add'] = (messages) =>
    parseMessages(messages).flatMap((message) => {
      // A host that adds the answer itself will not record another one.
      if (message.role === 'assistant') this.pending = undefined
      const uuids = this.queue.add(message, { isWaiting: this.mutex.isBusy() || this.pending !== undefined })
      if (message.role === 'assistant') this.flush()
      return uuids
    })

  prepare: Session['prepare'] = (options = {}) => {
    this.idleTimer?.stop()
    return this.run(() => this.prepareNow(options))
  }

  private async prepareNow(options: PrepareOptions): Promise<Ready | Blocked> {
    this.pending = undefined
    this.queue.flush()
    await this.stored()
    this.showImported()
    this.runtime.retainer?.(this.runtime.conversation)
    const applied = await this.applyBackground()
    const prepared = await prepareTurn(this.runtime, { ...options, isMicroOff: this.background !== undefined })
    if (prepared.compaction) await this.cancelBackground()
    this.background ??= startInBackground(this.runtime)
    if (prepared.type === 'ready') {
      this.requestSent(prepared)
      for (const worker of this.runtime.background) worker.beforeRequest?.(this.runtime)
    }
    return applied ? withBackground(prepared, applied) : prepared
  }

  record: Session['record'] = (input) => {
    const answer = parseAnswer(input)
    const { runtime, pending, sent } = this
    const uuid = runtime.ports.newId()
    const write = () => {
      recordAnswer(runtime, { uuid, answer, sent, pending })
      this.hasImported = true
      // Background workers read the whole view. For an imported history, once at the end is enough.
      if (pending) this.showImported()
    }
    // An answer that arrives during a compaction must be written after its boundary.
    if (this.mutex.isBusy()) this.lateAnswers = [...this.lateAnswers, write]
    else write()
    this.requestEnded()
    this.idleTimer?.stop()
    if (runtime.settings.compactWhenIdle) this.idleTimer = startIdleTimer(runtime, (task) => this.run(task))
    return uuid
  }

  abandonRequest = (): void => this.requestEnded()

  send: Session['send'] = async ({ onPrepared, ...options } = {}) => {
    const { runtime } = this
    const send = async (request: ModelRequest) =>
      failureIfEmpty(runtime, await runtime.gauge.model().client.send(request, options))
    const report = (preparation: Preparation) =>
      callNow(
        () => onPrepared?.(preparation),
        (why) => runtime.guard.report('listener', `at onPrepared: ${why}`),
      )
    const prepared = await this.prepare(options)
    const compactions = prepared.compaction ? [prepared.compaction] : []
    report(prepared)
    if (prepared.type === 'blocked') return { ...prepared, compactions }
    const first = await send(prepared)
    const recovery = first.type === 'failed' ? await this.recover(first, options) : undefined
    let last = first
    if (recovery?.type === 'recovered') {
      const { request, compaction, steps } = recovery
      if (compaction) compactions.push(compaction)
      report({ ...defined({ compaction }), notices: compaction?.notices ?? [] })
      last = await send(request)
      reportRecovery(runtime, steps, last.type === 'answer')
    }
    if (last.type === 'failed') {
      this.requestEnded()
      const failure = first.type === 'failed' && isAboutLength(last) ? first : last
      return { type: 'failed', failure, steps: recovery?.steps ?? [], prepared, compactions }
    }
    const uuid = this.record(last)
    await this.stored()
    return { type: 'answered', answer: last, uuid, prepared, compactions }
  }

  recover: Session['recover'] = (failure, { signal } = {}) =>
    this.run(async () => {
      const recovery = await recover(this.runtime, failure, signal)
      if (recovery.type === 'recovered') this.requestSent(recovery.request)
      else if (isAboutLength(failure)) reportRecovery(this.runtime, recovery.steps, false)
      return recovery
    })

  compact: Session['compact'] = (options = {}) =>
    this.run(async () => {
      const { instructions, from, upTo, signal } = compactInput(options)
      this.showImported()
      this.runtime.retainer?.(this.runtime.conversation)
      await this.cancelBackground()
      const off = compactionOff(this.runtime)
      if (off !== undefined) return failed('vetoed', off)
      return compactNow(this.runtime, { cause: 'person', instructions, range: defined({ from, upTo }), signal })
    })

  scheduleCompaction: Session['scheduleCompaction'] = (options = {}) =>
    scheduleCompaction(this.runtime, compactInput(options).instructions)

  explain: Session['explain'] = () => {
    const { conversation, gauge, memoryState, warnings: unusable = [] } = this.runtime
    const explanation = gauge.explanation()
    const turns = turnsIn(conversation.view(), conversation.record) ?? []
    const { size, autoCompactThreshold } = explanation
    const prediction = predictCompaction(endingNow(turns, size.tokens), autoCompactThreshold.value)
    const warnings = [...unusable, ...explanation.warnings]
    return { ...explanation, warnings, ...defined({ prediction, sessionMemory: memoryState?.() }) }
  }

  messages: Session['messages'] = () => this.runtime.conversation.view().messages
  tracking: Session['tracking'] = () => this.runtime.tracker.now()
  spent: Session['spent'] = () => this.runtime.usage.total()
  cleanUp: Session['cleanUp'] = (owner) => this.runtime.cleanUps.register(owner)
  runHooks: Session['runHooks'] = (call, options) => runHooks(this.runtime.ports, call, options?.signal)

  undo: Session['undo'] = () => this.run(() => undoNewest(this.runtime))
  snip: Session['snip'] = (input) => this.run(async () => snipRange(this.runtime, snipInput(input)))
  pin: Session['pin'] = (uuid) => this.run(() => editEntry(this.runtime, { type: 'pin', uuid }))
  unpin: Session['unpin'] = (uuid) => this.run(() => editEntry(this.runtime, { type: 'unpin', uuid }))
  clear: Session['clear'] = (options = {}) => this.run(() => clearContext(this.runtime, options))
  rewind: Session['rewind'] = (to, options = {}) =>
    this.run(() => editEntry(this.runtime, { type: 'rewind', to }, options))
  on: Session['on'] = (
    first: EngineEvent['type'] | ((event: EngineEvent) => void),
    second?: (event: never) => void,
  ) => {
    const { add } = this.input.listeners
    if (typeof first === 'function') return add(first)
    return add((event) => void (event.type === first && second?.(event as never)))
  }

  useModel: Session['useModel'] = (choice, { signal } = {}) =>
    this.run(async () => {
      await this.cancelBackground()
      const client = safeModel(choice.client, this.runtime.guard)
      return switchModel(this.runtime, { ...choice, client }, signal)
    })

  configure: Session['configure'] = (base) => {
    this.runtime.gauge.configure(requestBase(base))
    this.runtime.tracker.changeBreaker(afterChange)
  }

  stored = (): Promise<void> => this.runtime.conversation.stored()

  idle = async (): Promise<void> => {
    this.showImported()
    for (const worker of this.runtime.background) await worker.idle()
  }

  close = async (): Promise<void> => {
    const isFirst = !this.runtime.closing.signal.aborted
    const isReported = this.runtime.conversation.isFailureReported()
    this.runtime.closing.stop()
    this.idleTimer?.stop()
    this.pending = undefined
    try {
      await this.mutex.run(() => this.cancelBackground())
      await this.idle()
      // Once, even if the session is closed twice.
      if (isFirst) await this.runHooks(endOf(this.agentId))
      if (isFirst) await this.stored()
    } catch (error) {
      if (!isReported || !(error instanceof StoreError)) throw error
    } finally {
      await this.input.close()
    }
  }

  /** Writes a background compaction that is finished; one that is still running continues. */
  private async applyBackground(): Promise<Compacted | Failed | undefined> {
    const { background } = this
    if (!background?.isReady()) return undefined
    this.background = undefined
    return background.apply()
  }

  private async cancelBackground(): Promise<void> {
    const { background } = this
    this.background = undefined
    await background?.cancel('Another compaction came first.')
  }

  private requestSent(request: ModelRequest): void {
    this.pending = this.runtime.conversation.view()
    this.runtime.tracker.set({ requestedAt: this.runtime.ports.now() })
    this.sent = { ...defined({ before: this.sent.now }), now: request }
  }

  /** The answer has arrived or will not arrive. */
  private requestEnded(): void {
    this.pending = undefined
    this.flush()
  }

  /** Writes the messages that had to wait. */
  private flush(): void {
    if (this.mutex.isBusy()) return
    for (let write = this.lateAnswers[0]; write; write = this.lateAnswers[0]) {
      write()
      // Removed only after writing, so that an answer that could not be written is tried again.
      this.lateAnswers = this.lateAnswers.slice(1)
    }
    if (this.pending === undefined) this.queue.flush()
  }

  private showImported(): void {
    if (!this.hasImported) return
    this.hasImported = false
    for (const worker of this.runtime.background) worker.afterAnswer(this.runtime)
  }

  /** One task at a time. Its input is stored before a model sees it, and its output before it ends. */
  private run<T>(task: () => Promise<T>): Promise<T> {
    return this.mutex.run(async () => {
      await this.stored()
      await this.runtime.ports.pause?.()
      const result = await task()
      await this.stored()
      return result
    })
  }
}

function endOf(agentId: string | undefined): HookCall {
  if (agentId === undefined) return { event: 'SessionEnd', details: { reason: 'other' } }
  return { event: 'SubagentStop', details: { agent_id: agentId } }
}

/** A background compaction was written before this request was made, so it comes first. */
function withBackground(prepared: Ready | Blocked, applied: Compacted | Failed): Ready | Blocked {
  const tried = [...applied.tried, ...prepared.tried]
  if (applied.type === 'failed') return { ...prepared, tried }
  const notices = [...applied.notices, ...prepared.notices]
  return { ...prepared, tried, notices, compaction: prepared.compaction ?? applied }
}
