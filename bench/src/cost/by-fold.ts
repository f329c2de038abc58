// A keeper made of Everlong's own parts: the transcript folded into the view, mechanisms tried before each request, the
// stand-in compaction at the threshold. Our settings and the fixed rules they are held against differ in data only.
import {
  appliedEdits,
  blocksOf,
  type Calibration,
  type ClientAbilities,
  countTokens,
  createWeigher,
  isToolUse,
  type JsonObject,
  type Mechanism,
  type Message,
  modelFacts,
  type ReductionChoices,
  type RequestOptions,
  repairRequest,
  type Situation,
  seedCalibration,
  situationOf,
  type TokenSettings,
  type ViewMessage,
} from 'everlong'
import { createFold, type Edit, editRecord, type View } from 'everlong/transcript'
import type { Keeper, Outgoing, Port, Refusal, Strategy } from './strategy.ts'
import { afterSummary, summaryOf } from './summary.ts'

export type FoldRule = {
  readonly name: string
  readonly who: string
  /** In the order in which they are tried. */
  readonly mechanisms: readonly Mechanism[]
  readonly reductions?: ReductionChoices
  readonly client?: Partial<ClientAbilities>
  /** Thresholds other than the usual ones. */
  readonly settings?: TokenSettings
}

export function byFold(rule: FoldRule): Strategy {
  return { name: rule.name, who: rule.who, open: (port) => new FoldKeeper(rule, port) }
}

class FoldKeeper implements Keeper {
  private fold = createFold()
  private weigher
  private calibration: Calibration | undefined
  private count = 0
  private tip: string | null = null
  private freed = 0
  /** What the server was asked to leave out, and goes on leaving out. */
  private pinned: { readonly edit: JsonObject; readonly cleared: number; readonly request: RequestOptions } | undefined

  private readonly rule: FoldRule
  private readonly port: Port

  constructor(rule: FoldRule, port: Port) {
    this.rule = rule
    this.port = port
    this.weigher = createWeigher({ model: port.setup.model })
  }

  told(message: Message): void {
    this.add({ type: 'user', message })
  }

  answered(answer: JsonObject): void {
    this.add({ type: 'assistant', message: answer })
    this.freed = 0
    for (const edit of appliedEdits(answer)) this.edit(edit)
    if (!this.calibration) this.calibrate(this.fold.view())
  }

  /** Once, as soon as enough was reported: how far the estimate is off for this model. */
  private calibrate({ messages, edits }: View): void {
    const first = messages.findIndex(({ role }) => role === 'assistant')
    const reported = contextOf(messages.at(-1)) - contextOf(messages[first])
    if (reported < enoughToLearn || edits.length > 0) return
    const { model } = this.port.setup
    // The output of the newest answer is no part of its context yet; that of the first one is.
    const estimated = countTokens(messages.slice(first, -1), { model })
    this.calibration = seedCalibration({ estimated, reported })
    this.weigher = createWeigher({ model, calibration: this.calibration })
  }

  async next(): Promise<Outgoing> {
    let view = this.fold.view()
    let situation = this.situation(view)
    for (const mechanism of this.rule.mechanisms) {
      const plan = mechanism.plan(view, situation)
      if (plan.type === 'declined') continue
      const done = await mechanism.perform(plan, { now: this.port.now, newId: () => this.id() })
      if (done.type === 'failed') continue
      if (done.type === 'delegated') {
        this.delegate(view, done.request)
        continue
      }
      this.port.note('clearing')
      for (const edit of done.edits) this.edit(edit)
      this.freed += done.freed
      view = this.fold.view()
      situation = this.situation(view)
    }
    if (situation.explanation.isAboveThreshold) await this.compact(view)
    return this.outgoing()
  }

  async refused(why: Refusal): Promise<void> {
    if (why === 'overflow') await this.compact(this.fold.view())
  }

  private situation(view: View): Situation {
    const { model, window, lifetime } = this.port.setup
    return situationOf(view, {
      model,
      now: this.port.now(),
      settings: { contextWindow: window, ...this.rule.settings },
      cacheLifetime: lifetime === '1h' ? 3_600_000 : 300_000,
      freedSinceAnswer: this.freed,
      weigher: this.weigher,
      calibration: this.calibration,
      ...(this.rule.reductions ? { reductions: this.rule.reductions } : {}),
      ...(this.rule.client ? { client: this.rule.client } : {}),
    })
  }

  private outgoing(): Outgoing {
    const view = this.fold.view()
    const binds = modelFacts(this.port.setup.model)?.bindsThinking === true
    const { messages } = repairRequest(view.messages, binds ? { thinking: 'strip-changed', changed: view.changed } : {})
    const anchor = view.sources.findLastIndex(({ edits }) => edits.length > 0)
    return { messages: messages.map(bare), ...(anchor < 0 ? {} : { anchor }), ...this.fields(view) }
  }

  private fields(view: View): Pick<Outgoing, 'fields' | 'headers'> {
    if (!this.pinned) return {}
    const { edit, cleared, request } = this.pinned
    const edits = [{ ...edit, ...counted(usesIn(view) - cleared) }]
    return {
      fields: { context_management: { edits } },
      headers: { 'anthropic-beta': (request.betas ?? []).join(',') },
    }
  }

  private delegate(view: View, request: RequestOptions): void {
    const edit = request.contextManagement?.edits[0]
    const keep = edit && (edit.keep as { readonly value: number }).value
    if (!edit || keep === undefined) return
    const cleared = usesIn(view) - keep
    if (this.pinned && cleared <= this.pinned.cleared) return
    this.port.note('clearing')
    this.pinned = { edit, cleared, request }
  }

  private async compact(view: View): Promise<void> {
    const { messages } = this.outgoing()
    const summary = await summaryOf(this.port, messages)
    if (summary === undefined) return
    this.port.note('compaction')
    const message = afterSummary(summary, view.messages.at(-1))
    this.tip = null
    this.add({ type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } })
    this.add({ type: 'user', isCompactSummary: true, message })
    this.freed = 0
    this.pinned = undefined
  }

  private edit(edit: Edit): void {
    const uuid = this.id()
    const record = editRecord(edit, { uuid, parentUuid: this.tip, timestamp: this.time(), sessionId: 'bench' })
    this.append(uuid, record)
  }

  private add(record: JsonObject): void {
    const uuid = this.id()
    this.append(uuid, {
      ...record,
      uuid,
      parentUuid: this.tip,
      timestamp: this.time(),
      sessionId: 'bench',
      isSidechain: false,
    })
  }

  private append(uuid: string, record: JsonObject): void {
    this.tip = uuid
    this.fold.add({ record, position: { line: this.count, offset: this.count, length: 1, nth: 0 } })
  }

  private id(): string {
    this.count++
    return `entry-${this.count}`
  }

  private time(): string {
    return new Date(this.port.now()).toISOString()
  }
}

const enoughToLearn = 10_000

function contextOf(message: ViewMessage | undefined): number {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = message?.usage ?? {}
  return input + cacheRead + cacheWrite
}

/** The server is told how many of the newest to keep: what it has cleared stays cleared, and nothing more goes. */
function counted(keep: number): JsonObject {
  return { trigger: { type: 'tool_uses', value: 1 }, keep: { type: 'tool_uses', value: keep } }
}

function usesIn({ messages }: View): number {
  return messages.reduce((sum, { content }) => sum + blocksOf(content).filter(isToolUse).length, 0)
}

function bare({ role, content }: Message): Message {
  return { role, content }
}
