// A session as hosts hold it. A thin shell: it keeps the order of things, and hands each to the function that does it.
import { createFingerprinter } from '../cache/fingerprint.ts'
import type { SnipInput } from '../mechanisms/snip.ts'
import type { ViewMessage } from '../message/message.ts'
import type { EngineEvent } from '../ports/events.ts'
import type { ModelAnswer, ModelFailure, ModelRequest, SendOptions } from '../ports/model.ts'
import { createStop } from '../ports/stop.ts'
import { recordAnswer, type Sent } from './answers.ts'
import { type Ahead, startAhead } from './background.ts'
import type { CleanUp } from './clean-up.ts'
import { type CompactionDone, type CompactionNotDone, compactNow } from './compaction.ts'
import { type Desk, explainDesk, type ModelChoice, type RequestBase } from './desk.ts'
import { afterAnswer, afterPrepared, errandsDone } from './errands.ts'
import type { GivenAnswer, GivenMessage } from './given.ts'
import { type EditOutcome, editAt, snipOut, type UndoOutcome, undoNewest } from './hands.ts'
import type { HeldMessage } from './held.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { createLine } from './line.ts'
import { type Switched, switchModel } from './model-switch.ts'
import { type Blocked, type PrepareOptions, prepareTurn, type Ready } from './prepare.ts'
import { type Recovery, recover, tellRecovery } from './reactive.ts'
import {
  type CompactOptions,
  explainSession,
  type Session,
  type SessionExplanation,
  type Turn,
} from './session-types.ts'
import type { Spent } from './spent.ts'
import { type Tracking, withChange } from './tracking.ts'
import { unlessCutOff } from './window-ends.ts'

export type SessionInput = {
  readonly id: string
  readonly path?: string | undefined
  readonly desk: (emit: Desk['emit']) => Desk
  readonly listeners: readonly ((event: EngineEvent) => void)[]
  /** Messages that were queued when the session was last open, and not yet said. */
  readonly queued?: readonly HeldMessage[]
  readonly close: () => void | Promise<void>
}

export function createSession(input: SessionInput): Session {
  return new Shell(input)
}

class Shell implements Session {
  readonly id: string
  readonly path: string | undefined
  private readonly desk: Desk
  private readonly inbox: Inbox
  private readonly giveBack: SessionInput['close']
  private readonly listeners: Set<(event: EngineEvent) => void>
  private readonly line = createLine(() => this.settle())
  private readonly printOf = createFingerprinter()
  private readonly stop = createStop()
  private ahead: Ahead | undefined
  private late: readonly (() => void)[] = []
  private sent: Sent = {}
  /** A request was handed out and its answer has not come: the state of the view it was made of. */
  private out: { readonly changes: number } | undefined

  constructor({ id, path, desk, listeners, queued, close }: SessionInput) {
    this.id = id
    this.path = path
    this.giveBack = close
    this.listeners = new Set(listeners)
    this.desk = desk((event) => {
      for (const listener of this.listeners) listener(event)
    })
    this.inbox = createInbox(this.desk, queued)
    this.inbox.release()
  }

  add = (messages: GivenMessage | readonly GivenMessage[]): readonly string[] => {
    const given: readonly GivenMessage[] = 'role' in messages ? [messages] : messages
    return given.flatMap((message) => {
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
      if (prepared.type === 'ready' && prepared.compaction) await this.dropAhead()
      this.ahead ??= startAhead(this.desk, this.stop.signal)
      const tried = [...(swapped?.tried ?? []), ...prepared.tried]
      if (prepared.type === 'blocked') return { ...prepared, tried }
      this.handOut(prepared)
      afterPrepared(this.desk, prepared, this.stop.signal)
      const compaction = prepared.compaction ?? (swapped?.type === 'compacted' ? swapped : undefined)
      return { ...prepared, tried, ...(compaction ? { compaction } : {}) }
    })

  record = (given: GivenAnswer): string => {
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

  send = async (options: SendOptions = {}): Promise<Turn> => {
    const prepared = await this.prepare(options)
    if (prepared.type === 'blocked') return prepared
    const first = unlessCutOff(this.desk, await this.desk.model.send(prepared, options))
    if (first.type === 'answer') return this.answered(first, prepared)
    const recovery = await this.recover(first, options)
    const { steps } = recovery
    if (recovery.type === 'unrecovered') return this.failed({ failure: first, steps, prepared })
    const second = unlessCutOff(this.desk, await this.desk.model.send(recovery.request, options))
    tellRecovery(this.desk, steps, second.type === 'answer')
    if (second.type === 'answer') return this.answered(second, prepared)
    return this.failed({ failure: isAboutLength(second) ? first : second, steps, prepared })
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
      const { manualCompact } = explainDesk(this.desk)
      if (!manualCompact.allowed) {
        const detail = `Compaction is off: ${manualCompact.source}.`
        return { type: 'not-compacted', reason: 'vetoed', detail, tried: [] }
      }
      const range = { ...(from === undefined ? {} : { from }), ...(upTo === undefined ? {} : { upTo }) }
      const wish = { stage: 'manual', trigger: 'manual', cause: 'person', instructions, range, signal } as const
      const outcome = await compactNow(this.desk, wish)
      if (outcome.type === 'compacted') this.desk.tracking = withChange(this.desk.tracking)
      return outcome
    })

  explain = (): SessionExplanation => explainSession(this.desk)
  messages = (): readonly ViewMessage[] => this.desk.conversation.view().messages
  tracking = (): Tracking => this.desk.tracking
  spent = (): Spent => this.desk.spent
  cleanUp = (owner: CleanUp): (() => void) => this.desk.cleanUps.register(owner)
  idle = (): Promise<void> => errandsDone(this.desk)
  undo = (): Promise<UndoOutcome> => this.line.run(() => undoNewest(this.desk))
  snip = (input: SnipInput): Promise<EditOutcome> => this.line.run(() => snipOut(this.desk, input))
  pin = (uuid: string): Promise<EditOutcome> => this.line.run(() => editAt(this.desk, uuid, { type: 'pin', uuid }))
  unpin = (uuid: string): Promise<EditOutcome> => this.line.run(() => editAt(this.desk, uuid, { type: 'unpin', uuid }))
  rewind = (to: string): Promise<EditOutcome> => this.line.run(() => editAt(this.desk, to, { type: 'rewind', to }))

  useModel = (choice: ModelChoice, { signal }: PrepareOptions = {}): Promise<Switched> =>
    this.line.run(async () => {
      await this.dropAhead()
      return switchModel(this.desk, choice, signal)
    })

  configure = (base: RequestBase): void => {
    this.desk.base = { ...this.desk.base, ...base }
  }

  on = (listener: (event: EngineEvent) => void): (() => void) => {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

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

  private answered(answer: ModelAnswer, prepared: Ready): Turn {
    return { type: 'answered', answer, uuid: this.record(answer), prepared }
  }

  private failed(how: Omit<Extract<Turn, { readonly type: 'failed' }>, 'type'>): Turn {
    this.land()
    return { type: 'failed', ...how }
  }
}

function isAboutLength({ reason }: ModelFailure): boolean {
  return reason === 'overflow' || reason === 'too-large'
}
