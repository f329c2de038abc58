// A session as hosts use it. It keeps calls in order and passes each on to the function that does the work.
import { createFingerprinter } from '../cache/fingerprint.ts'
import { textCounter } from '../compaction/plan.ts'
import { type CompactionDone, type CompactionNotDone, compactNow } from '../ladder/compaction.ts'
import { type Blocked, prepareTurn, type Ready } from '../ladder/prepare.ts'
import { failureIfEmpty, isAboutLength, recover, reportRecovery } from '../ladder/recovery.ts'
import { isToolUse } from '../message/block.ts'
import { defined } from '../message/json.ts'
import { callNow, errorText } from '../ports/guarded.ts'
import { guardedModel } from '../ports/guarded-model.ts'
import type { Listeners } from '../ports/listeners.ts'
import type { ModelAnswer, ModelClient, ModelRequest } from '../ports/model.ts'
import { createStop } from '../ports/stop.ts'
import { predictCompaction, turnSizes } from '../tokens/predict.ts'
import { compactionOff } from '../tokens/settings.ts'
import { type BackgroundCompaction, startInBackground } from './background-compaction.ts'
import { runSessionHooks } from './callbacks.ts'
import { parseAnswer, parseMessages } from './input.ts'
import { editEntry, snipRange, switchModel, undoNewest } from './manual-edits.ts'
import { createMessageQueue, createMutex, type MessageQueue, type QueuedMessage } from './queue.ts'
import { recordAnswer, type SentRequests } from './record-answer.ts'
import { requestBase } from './request-input.ts'
import type { BackgroundContext, Runtime } from './runtime.ts'
import type { Preparation, Session, Turn } from './session-types.ts'
import { buildRequest } from './turn-request.ts'

export type SessionInput = {
  readonly id: string
  readonly path?: string | undefined
  /** Of a sub-agent. */
  readonly agentId?: string | undefined
  readonly runtime: Runtime
  readonly listeners: Listeners
  /** Messages that were still queued when the session was last closed. */
  readonly queued?: readonly QueuedMessage[]
  readonly close: () => void | Promise<void>
}

/** Throws a ConfigurationError, before anything is written, when the settings cannot work. */
export function createSession(input: SessionInput): Session {
  return new ManagedSession(input)
}

class ManagedSession implements Session {
  readonly id: string
  readonly agentId: string | undefined
  readonly path: string | undefined
  private readonly input: SessionInput
  private readonly runtime: Runtime
  private readonly queue: MessageQueue
  private readonly mutex = createMutex(() => this.flush())
  private readonly printOf = createFingerprinter()
  private readonly stop = createStop()
  private background: BackgroundCompaction | undefined
  /** Answers that came during a compaction. */
  private lateAnswers: readonly (() => void)[] = []
  private sent: SentRequests = {}
  /** A request whose answer has not come yet: the state of the view it was made from. */
  private pending: { readonly changes: number } | undefined

  constructor(input: SessionInput) {
    this.id = input.id
    this.agentId = input.agentId
    this.path = input.path
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

  prepare: Session['prepare'] = (options = {}) =>
    this.run(async () => {
      this.pending = undefined
      this.queue.flush()
      await this.stored()
      const applied = await this.applyBackground()
      const prepared = await prepareTurn(this.runtime, { ...options, isMicroOff: this.background !== undefined })
      if (prepared.compaction) await this.cancelBackground()
      this.background ??= startInBackground(this.runtime, this.stop.signal)
      if (prepared.type === 'ready') {
        this.requestSent(prepared)
        for (const worker of this.runtime.background) worker.beforeRequest?.(this.backgroundContext())
      }
      return applied ? withBackground(prepared, applied) : prepared
    })

  record: Session['record'] = (input) => {
    const answer = parseAnswer(input)
    const { runtime, pending, sent, printOf } = this
    const uuid = runtime.ports.newId()
    const write = () => {
      const isOutdated = pending !== undefined && pending.changes !== runtime.tracker.now().changes
      const { content } = recordAnswer(runtime, { uuid, answer, sent, printOf, isOutdated })
      const calls = content.filter(isToolUse).length
      for (const worker of runtime.background) worker.afterAnswer(this.backgroundContext(), calls)
    }
    // An answer that comes during a compaction must be written after its boundary.
    if (this.mutex.isBusy()) this.lateAnswers = [...this.lateAnswers, write]
    else write()
    this.requestEnded()
    return uuid
  }

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
    if (first.type === 'answer') return this.answered(first, { prepared, compactions })
    const recovery = await this.recover(first, options)
    const { steps } = recovery
    if (recovery.type === 'unrecovered') return this.failed({ failure: first, steps, prepared, compactions })
    const { request, compaction } = recovery
    if (compaction) compactions.push(compaction)
    report({ ...defined({ compaction }), notices: compaction?.notices ?? [] })
    const second = await send(request)
    reportRecovery(runtime, steps, second.type === 'answer')
    if (second.type === 'answer') return this.answered(second, { prepared, compactions })
    return this.failed({ failure: isAboutLength(second) ? first : second, steps, prepared, compactions })
  }

  recover: Session['recover'] = (failure, { signal } = {}) =>
    this.run(async () => {
      const recovery = await recover(this.runtime, failure, { signal })
      if (recovery.type === 'recovered') this.requestSent(recovery.request)
      else if (isAboutLength(failure)) reportRecovery(this.runtime, recovery.steps, false)
      return recovery
    })

  compact: Session['compact'] = ({ instructions, from, upTo, signal } = {}) =>
    this.run(async () => {
      await this.cancelBackground()
      if (from !== undefined || upTo !== undefined) await this.runtime.conversation.loadOlderEntries?.()
      const detail = compactionOff(this.runtime)
      if (detail !== undefined) return { type: 'not-compacted', reason: 'vetoed', detail, tried: [] }
      const range = defined({ from, upTo })
      return compactNow(this.runtime, { cause: 'person', instructions, range, signal })
    })

  explain: Session['explain'] = () => {
    const { conversation, gauge, memoryState } = this.runtime
    const explanation = gauge.explanation()
    const turns = turnSizes(conversation.view().messages, explanation.size.tokens)
    const prediction = predictCompaction(turns, explanation.autoCompactThreshold.value)
    return { ...explanation, ...defined({ prediction, sessionMemory: memoryState?.() }) }
  }

  messages: Session['messages'] = () => this.runtime.conversation.view().messages
  tracking: Session['tracking'] = () => this.runtime.tracker.now()
  spent: Session['spent'] = () => this.runtime.usage.total()
  cleanUp: Session['cleanUp'] = (owner) => this.runtime.cleanUps.register(owner)
  runHooks: Session['runHooks'] = (call, options = {}) => runSessionHooks(this.runtime.ports, call, options)
  undo: Session['undo'] = () => this.edit(() => undoNewest(this.runtime))
  snip: Session['snip'] = (input) => this.edit(() => snipRange(this.runtime, input))
  pin: Session['pin'] = (uuid) => this.edit(() => editEntry(this.runtime, uuid, { type: 'pin', uuid }))
  unpin: Session['unpin'] = (uuid) => this.edit(() => editEntry(this.runtime, uuid, { type: 'unpin', uuid }))
  rewind: Session['rewind'] = (to) => this.edit(() => editEntry(this.runtime, to, { type: 'rewind', to }))
  on: Session['on'] = (listener) => this.input.listeners.add(listener)

  useModel: Session['useModel'] = (choice, { signal } = {}) =>
    this.run(async () => {
      await this.cancelBackground()
      const client = guardedModel(choice.client, this.runtime.guard)
      return switchModel(this.runtime, { ...choice, client }, signal)
    })

  configure: Session['configure'] = (base) => {
    this.runtime.gauge.configure(requestBase(base))
    this.runtime.tracker.userChange()
  }

  stored: Session['stored'] = async () => this.runtime.conversation.stored?.()

  idle: Session['idle'] = async () => {
    for (const worker of this.runtime.background) await worker.idle()
  }

  close: Session['close'] = async () => {
    this.stop.stop()
    this.pending = undefined
    await this.mutex.run(() => this.cancelBackground())
    await this.idle()
    await this.input.close()
  }

  /** Writes a background compaction that is finished; one that is still running goes on. */
  private async applyBackground(): Promise<CompactionDone | CompactionNotDone | undefined> {
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
    this.pending = { changes: this.runtime.tracker.now().changes }
    this.sent = { ...(this.sent.now ? { before: this.sent.now } : {}), now: request }
  }

  /** The answer is here, or will not come. */
  private requestEnded(): void {
    this.pending = undefined
    this.flush()
  }

  /** Writes what had to wait. */
  private flush(): void {
    if (this.mutex.isBusy()) return
    const { lateAnswers } = this
    this.lateAnswers = []
    for (const write of lateAnswers) write()
    if (this.pending === undefined) this.queue.flush()
  }

  private async answered(answer: ModelAnswer, before: Pick<Answered, 'prepared' | 'compactions'>): Promise<Turn> {
    const uuid = this.record(answer)
    await this.stored()
    return { type: 'answered', answer, uuid, ...before }
  }

  /** One task at a time. What it read is stored before a model sees it, and what it wrote before it is done. */
  private run<T>(task: () => Promise<T>): Promise<T> {
    return this.mutex.run(async () => {
      await this.stored()
      const result = await task()
      await this.stored()
      return result
    })
  }

  /** Edits by hand may name entries that are not in memory. */
  private edit<T>(change: () => T): Promise<T> {
    return this.run(async () => {
      await this.runtime.conversation.loadOlderEntries?.()
      return change()
    })
  }

  private failed(how: Omit<Extract<Turn, { readonly type: 'failed' }>, 'type'>): Turn {
    this.requestEnded()
    return { type: 'failed', ...how }
  }

  private backgroundContext(): BackgroundContext {
    const { runtime, stop } = this
    const { conversation, gauge, usage, ports } = runtime
    return {
      view: conversation.view,
      tokens: () => gauge.size().tokens,
      effectiveWindow: () => gauge.explanation().effectiveWindow.value,
      ledger: conversation.ledger,
      weigher: gauge.weigher,
      client: () => afterStored(gauge.model().client, this.stored),
      model: () => gauge.model().name,
      requestFor: (view) => buildRequest(runtime, view).request,
      countTokens: (text) => textCounter(gauge.counting())(text),
      isCompactionOff: () => compactionOff(runtime) !== undefined,
      emit: ports.emit,
      addUsage: (source, counts) => usage.add({ source, usage: counts, model: gauge.model().name }),
      signal: stop.signal,
    }
  }
}

/** For background workers: what they send is stored first. */
function afterStored(client: ModelClient, stored: () => Promise<void>): ModelClient {
  return {
    ...client,
    send: async (request, options) => {
      try {
        await stored()
      } catch (error) {
        return { type: 'failed', reason: 'transient', message: errorText(error), tries: 0 }
      }
      return client.send(request, options)
    },
  }
}

type Answered = Extract<Turn, { readonly type: 'answered' }>

/** A background compaction was written before this request was made, so it comes first. */
function withBackground(prepared: Ready | Blocked, applied: CompactionDone | CompactionNotDone): Ready | Blocked {
  const tried = [...applied.tried, ...prepared.tried]
  if (applied.type === 'not-compacted') return { ...prepared, tried }
  const notices = [...applied.notices, ...prepared.notices]
  return { ...prepared, tried, notices, compaction: prepared.compaction ?? applied }
}
