// A session as hosts hold it. A thin shell: it keeps the order of things, and hands each to the function that does it.
import { createFingerprinter } from '../cache/fingerprint.ts'
import { type CompactionDone, type CompactionNotDone, compactNow } from '../ladder/compaction.ts'
import { type Blocked, type PrepareOptions, prepareTurn, type Ready } from '../ladder/prepare.ts'
import { type Recovery, recover, tellRecovery } from '../ladder/reactive.ts'
import { unlessCutOff } from '../ladder/window-ends.ts'
import type { SnipInput } from '../mechanisms/snip.ts'
import type { ViewMessage } from '../message/message.ts'
import type { EngineEvent } from '../ports/events.ts'
import { callNow } from '../ports/guarded.ts'
import { guardedModel } from '../ports/guarded-model.ts'
import { createListeners, type Listeners } from '../ports/listeners.ts'
import type { ModelAnswer, ModelFailure, ModelRequest } from '../ports/model.ts'
import { createStop } from '../ports/stop.ts'
import { recordAnswer, type Sent } from './answers.ts'
import { type Ahead, startAhead } from './background.ts'
import type { CleanUp } from './clean-up.ts'
import { type Desk, explainDesk, type ModelChoice, type RequestBase, whyCompactionIsOff } from './desk.ts'
import { afterAnswer, afterPrepared, errandsDone } from './errands.ts'
import { checkAnswer, type GivenAnswer, type GivenMessage, givenMessages } from './given.ts'
import { type EditOutcome, editAt, snipOut, type UndoOutcome, undoNewest } from './hands.ts'
import type { HeldMessage } from './held.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { createLine } from './line.ts'
import { type Switched, switchModel } from './model-switch.ts'
import { runSessionHooks } from './session-hooks.ts'
import {
  type CompactOptions,
  explainSession,
  type Session,
  type SessionExplanation,
  type Turn,
  type TurnOptions,
} from './session-types.ts'
import type { Spent } from './spent.ts'
import { type Tracking, withChange } from './tracking.ts'

export type SessionInput = {
  readonly id: string
  readonly path?: string | undefined
  /** Of a sub-agent. */
  readonly agentId?: string | undefined
  readonly desk: (emit: Desk['emit']) => Desk
  readonly listeners: readonly ((event: EngineEvent) => void)[]
  /** Messages that were queued when the session was last open, and not yet said. */
  readonly queued?: readonly HeldMessage[]
  readonly close: () => void | Promise<void>
}

/** Throws a ConfigurationError, before anything is written, when the settings cannot work. */
export function createSession(input: SessionInput): Session {
  return new Shell(input)
}

class Shell implements Session {
  readonly id: string
  readonly agentId: string | undefined
  readonly path: string | undefined
  private readonly desk: Desk
  private readonly inbox: Inbox
  private readonly giveBack: SessionInput['close']
  private readonly listeners: Listeners
  private readonly line = createLine(() => this.settle())
  private readonly printOf = createFingerprinter()
  private readonly stop = createStop()
  private ahead: Ahead | undefined
  private late: readonly (() => void)[] = []
  private sent: Sent = {}
  /** A request was handed out and its answer has not come: the state of the view it was made of. */
  private out: { readonly changes: number } | undefined

  constructor({ id, path, agentId, desk, listeners, queued, close }: SessionInput) {
    this.id = id
    this.agentId = agentId
    this.path = path
    this.giveBack = close
    this.listeners = createListeners(listeners, { sessionId: id, ...(agentId === undefined ? {} : { agentId }) })
    this.desk = desk(this.listeners.emit)
    this.desk.model = guardedModel(this.desk.model, this.desk.guard)
    // A setting that cannot work is said now, and not in the middle of a turn.
    explainDesk(this.desk)
    this.inbox = createInbox(this.desk, queued)
    this.inbox.release()
  }

  add = (messages: GivenMessage | readonly GivenMessage[]): readonly string[] => {
    return givenMessages(messages).flatMap((message) => {
      // Whoever adds an answer has no other that is still to come.
      if (message.role === 'assistant') this.out = undefined
      const uuids = this.inbox.add(message, { isHeld: this.line.isBusy() || this.out !== undefined })
      if (message.role === 'assistant') this.settle()
      return uuids
    })
  }

  prepare = (options: PrepareOptions = {}): Promise<Ready | Blocked> =>
    this.line.run(async () => {
      this.out = undefined
      this.inbox.release()
      const swapped = await this.swap()
      const prepared = await prepareTurn(this.desk, { ...options, isMicroOff: this.ahead !== undefined })
      if (prepared.compaction) await this.dropAhead()
      this.ahead ??= startAhead(this.desk, this.stop.signal)
      if (prepared.type === 'ready') {
        this.handOut(prepared)
        afterPrepared(this.desk, prepared, this.stop.signal)
      }
      return swapped ? withSwapped(prepared, swapped) : prepared
    })

  record = (given: GivenAnswer): string => {
    checkAnswer(given)
    const uuid = this.desk.ports.newId()
    const { out, sent, printOf } = this
    const write = () => {
      const isOutdated = out !== undefined && out.changes !== this.desk.tracking.changes
      const { content } = recordAnswer(this.desk, { uuid, given, sent, printOf, isOutdated })
      afterAnswer(this.desk, content, this.stop.signal)
    }
    // An answer that comes while a compaction runs must not stand before its boundary.
    if (this.line.isBusy()) this.late = [...this.late, write]
    else write()
    this.land()
    return uuid
  }

  send = async ({ onPrepared, ...options }: TurnOptions = {}): Promise<Turn> => {
    const prepared = await this.prepare(options)
    const compactions = prepared.compaction ? [prepared.compaction] : []
    const tellPrepared = (how: Parameters<NonNullable<typeof onPrepared>>[0]) =>
      callNow(
        () => onPrepared?.(how),
        (why) => this.desk.guard.report('listener', `at onPrepared: ${why}`),
      )
    tellPrepared(prepared)
    if (prepared.type === 'blocked') return { ...prepared, compactions }
    const first = unlessCutOff(this.desk, await this.desk.model.send(prepared, options))
    if (first.type === 'answer') return this.answered(first, { prepared, compactions })
    const recovery = await this.recover(first, options)
    const { steps } = recovery
    if (recovery.type === 'unrecovered') return this.failed({ failure: first, steps, prepared, compactions })
    const { request, compaction } = recovery
    if (compaction) compactions.push(compaction)
    tellPrepared({ ...(compaction ? { compaction } : {}), notices: compaction?.notices ?? [] })
    const second = unlessCutOff(this.desk, await this.desk.model.send(request, options))
    tellRecovery(this.desk, steps, second.type === 'answer')
    if (second.type === 'answer') return this.answered(second, { prepared, compactions })
    return this.failed({ failure: isAboutLength(second) ? first : second, steps, prepared, compactions })
  }

  recover = (failure: ModelFailure, { signal }: PrepareOptions = {}): Promise<Recovery> =>
    this.line.run(async () => {
      const recovery = await recover(this.desk, failure, { signal })
      if (recovery.type === 'recovered') this.handOut(recovery.request)
      else if (isAboutLength(failure)) tellRecovery(this.desk, recovery.steps, false)
      return recovery
    })

  compact = ({ instructions, from, upTo, signal }: CompactOptions = {}): Promise<CompactionDone | CompactionNotDone> =>
    this.line.run(async () => {
      await this.dropAhead()
      const detail = whyCompactionIsOff(this.desk)
      if (detail !== undefined) return { type: 'not-compacted', reason: 'vetoed', detail, tried: [] }
      const range = { ...(from === undefined ? {} : { from }), ...(upTo === undefined ? {} : { upTo }) }
      const wish = { stage: 'manual', trigger: 'manual', cause: 'person', instructions, range, signal } as const
      return compactNow(this.desk, wish)
    })

  explain = (): SessionExplanation => explainSession(this.desk)
  messages = (): readonly ViewMessage[] => this.desk.conversation.view().messages
  tracking = (): Tracking => this.desk.tracking
  spent = (): Spent => this.desk.spent
  cleanUp = (owner: CleanUp): (() => void) => this.desk.cleanUps.register(owner)
  idle = (): Promise<void> => errandsDone(this.desk)
  runHooks: Session['runHooks'] = (call, options = {}) => runSessionHooks(this.desk, call, options)
  undo = (): Promise<UndoOutcome> => this.line.run(() => undoNewest(this.desk))
  snip = (input: SnipInput): Promise<EditOutcome> => this.line.run(() => snipOut(this.desk, input))
  pin = (uuid: string): Promise<EditOutcome> => this.line.run(() => editAt(this.desk, uuid, { type: 'pin', uuid }))
  unpin = (uuid: string): Promise<EditOutcome> => this.line.run(() => editAt(this.desk, uuid, { type: 'unpin', uuid }))
  rewind = (to: string): Promise<EditOutcome> => this.line.run(() => editAt(this.desk, to, { type: 'rewind', to }))

  useModel = (choice: ModelChoice, { signal }: PrepareOptions = {}): Promise<Switched> =>
    this.line.run(async () => {
      await this.dropAhead()
      const client = guardedModel(choice.client, this.desk.guard)
      return switchModel(this.desk, { ...choice, client }, signal)
    })

  configure = (base: RequestBase): void => {
    this.desk.base = { ...this.desk.base, ...base }
    this.desk.tracking = withChange(this.desk.tracking)
  }

  on = (listener: (event: EngineEvent) => void): (() => void) => this.listeners.add(listener)

  close = async (): Promise<void> => {
    this.stop.stop()
    this.out = undefined
    await this.line.run(() => this.dropAhead())
    await errandsDone(this.desk)
    await this.giveBack()
  }

  /** A compaction that was prepared ahead and is finished goes in; one that is still under way is left alone. */
  private async swap(): Promise<CompactionDone | CompactionNotDone | undefined> {
    if (!this.ahead?.isReady()) return undefined
    const { ahead } = this
    this.ahead = undefined
    return ahead.swap()
  }

  private async dropAhead(): Promise<void> {
    const { ahead } = this
    this.ahead = undefined
    await ahead?.drop('Another compaction came first.')
  }

  private handOut(request: ModelRequest): void {
    this.out = { changes: this.desk.tracking.changes }
    this.sent = { ...(this.sent.now ? { before: this.sent.now } : {}), now: request }
  }

  /** The answer is there, or will not come: what was held may go in. */
  private land(): void {
    this.out = undefined
    this.settle()
  }

  private settle(): void {
    if (this.line.isBusy()) return
    const { late } = this
    this.late = []
    for (const write of late) write()
    if (this.out === undefined) this.inbox.release()
  }

  private answered(answer: ModelAnswer, before: Pick<Answered, 'prepared' | 'compactions'>): Turn {
    return { type: 'answered', answer, uuid: this.record(answer), ...before }
  }

  private failed(how: Omit<Extract<Turn, { readonly type: 'failed' }>, 'type'>): Turn {
    this.land()
    return { type: 'failed', ...how }
  }
}

type Answered = Extract<Turn, { readonly type: 'answered' }>

/** A compaction that was prepared ahead went in before this request was made: its story comes first. */
function withSwapped(prepared: Ready | Blocked, swapped: CompactionDone | CompactionNotDone): Ready | Blocked {
  const tried = [...swapped.tried, ...prepared.tried]
  if (swapped.type === 'not-compacted') return { ...prepared, tried }
  const notices = [...swapped.notices, ...prepared.notices]
  return { ...prepared, tried, notices, compaction: prepared.compaction ?? swapped }
}

function isAboutLength({ reason }: ModelFailure): boolean {
  return reason === 'overflow' || reason === 'too-large'
}
