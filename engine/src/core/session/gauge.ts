// The model in use, and how full its context window is. All code reads the same size and thresholds here: the gauge that a person
// sees, the trigger of compaction, and the check whether a compaction was worth it.
import { modelFacts } from '../catalog/models.ts'
import { createWeigher, viewScale, viewSize, type Weigher } from '../mechanisms/measure.ts'
import type { Situation } from '../mechanisms/mechanism.ts'
import { situationOf } from '../mechanisms/situation.ts'
import { defined, numberAt } from '../message/json.ts'
import { lengthOf, type Message, type ViewMessage } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'
import type { AbortSignalPort, ModelClient, ModelRequest } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Guard } from '../ports/safely.ts'
import { type Environment, resolveSettings, sizeSettingsIn } from '../settings/resolve.ts'
import type { Settings } from '../settings/table.ts'
import type { Work } from '../text/slices.ts'
import type { ContextSize, SizeOptions, SizeScale } from '../tokens/context-size.ts'
import {
  type Calibration,
  type Calibrations,
  type Counting,
  calibratedBy,
  calibrationOf,
  convertedTokens,
  countTokens,
  minCompared,
  recalibrateModel,
  type Tokenizer,
  withoutMargin,
} from '../tokens/estimate/counting.ts'
import { type Explanation, guessedWindow, resolveWindows, type WindowFacts, type Windows } from '../tokens/explain.ts'
import { ConfigurationError } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import { contextNoteRecord, isWindow, keyOf, type Learned, learningPlace, type Noted } from './context-note.ts'
import type { Conversation } from './conversation.ts'
import type { RequestBase } from './input.ts'
import type { Tracker } from './tracking.ts'

export type ModelChoice = { readonly client: ModelClient; readonly name: string }

export type GaugeInput = {
  readonly conversation: Conversation
  readonly tracker: Tracker
  readonly settings: Settings
  readonly environment: Environment
  readonly ports: Pick<CompactionPorts, 'now' | 'emit' | 'redact'>
  readonly guard: Guard
  readonly learned: Learned
  /** Recorded in the transcript, before the session was closed. */
  readonly noted?: Noted | undefined
  /** Counts texts instead of the estimator. */
  readonly tokenizer?: Tokenizer | undefined
  readonly model: ModelChoice
  readonly base: RequestBase
  /** Tokens of the system prompt and the tools, if only their number is known. */
  readonly overhead?: number | undefined
}

/** A smaller change of the calibration is not adopted, so that sizes do not jitter with every answer. */
const worthAdopting = 0.02
/** From this difference on, messages are weighed again, because plans must use the same counts as the size. */
const worthWeighingAgain = 0.1

/**
 * An answer that ends this close to the known window confirms it, because chat templates add uncounted tokens. The same share
 * stays free.
 */
const nearlyFull = 0.01

const describeTimeoutMs = 5_000

export class Gauge {
  private readonly input: GaugeInput
  private choice: ModelChoice
  private requestBase: RequestBase
  private calibration: Calibration
  /** Calibrations recorded by this session. They override those of the engine, which were learned from other texts. */
  private own: Calibrations
  private ownWindow: Noted['window']
  private weights: Weigher
  private weighed = new WeakSet<ViewMessage>()
  /** The note that was written last. */
  private recorded: string | undefined

  constructor(input: GaugeInput) {
    this.input = input
    this.choice = input.model
    this.requestBase = input.base
    this.own = input.noted?.calibrations ?? {}
    this.adoptWindow(input.noted?.window)
    this.calibration = this.learnedFor(input.model.name)
    this.weights = createWeigher(this.counting())
  }

  model = (): ModelChoice => this.choice
  base = (): RequestBase => this.requestBase
  weigher = (): Weigher => this.weights
  explanation = (): Explanation => this.situation().explanation

  configure(base: RequestBase): void {
    this.requestBase = { ...this.requestBase, ...base }
  }

  useModel(choice: ModelChoice): void {
    this.choice = choice
    this.calibration = this.learnedFor(choice.name)
    this.weighAgain()
    // A later session must count as this one does now.
    if (this.input.conversation.view().messages.length > 0) this.settle()
  }

  /** Anyone may have written the file, and the model, its server or the settings may have changed. */
  private adoptWindow(noted: Noted['window']): void {
    if (!noted || noted.model !== this.choice.name || !isWindow(noted.tokens)) return
    this.ownWindow = noted
    if (!this.hasWorkingWindow()) this.ownWindow = undefined
  }

  private learnedFor(model: string): Calibration {
    return calibrationOf(Object.hasOwn(this.own, model) ? this.own : this.input.learned.calibrations, model)
  }

  private isCalibrated(model: string): boolean {
    return Object.hasOwn(this.own, model) || Object.hasOwn(this.input.learned.calibrations, model)
  }

  /** A later session may read back only to the compaction, so the next request writes the note again. */
  afterCompaction(): void {
    this.weighAgain()
    this.recorded = undefined
  }

  /** Forgets the weights of messages that have left the view. */
  private weighAgain(): void {
    this.weights = createWeigher(this.counting())
    this.weighed = new WeakSet()
  }

  /** Weighs the new messages. Later code only adds up their weights. */
  *weighing(): Work<void> {
    const counting = this.counting()
    for (const message of this.input.conversation.view().messages) {
      if (this.weighed.has(message)) continue
      this.weighed.add(message)
      this.weights.measured(message, counting)
      yield lengthOf(message.content)
    }
  }

  counting(model = this.choice.name): Counting {
    const isAdopted = model === this.choice.name
    const calibration = isAdopted ? this.calibration : this.learnedFor(model)
    const { settings, tokenizer } = this.input
    return { estimator: settings.estimator, tokenizer, model, calibration }
  }

  /** Tokens of the system prompt and the tools, which no compaction reduces. Without the margin. */
  overhead(model = this.choice.name): number {
    const known = this.input.overhead
    return known ?? this.weights.tokens(this.weights.once(overheadMessages, this.requestBase), this.counting(model))
  }

  size(view = this.input.conversation.view(), model = this.choice.name): ContextSize {
    const size = viewSize(view, this.sizeOptions(model))
    const answer = view.messages.findLast(({ uuid }) => uuid === size.anchorUuid)
    return converted(size, { model, answered: answer?.model })
  }

  /** Between estimates and what the provider reports in this conversation. */
  scale(view = this.input.conversation.view(), model = this.choice.name): SizeScale {
    return viewScale(view, { ...this.sizeOptions(model), size: this.size(view, model) })
  }

  /** Estimated tokens of a context with these messages, system prompt and tools included, without the margin. */
  estimate({ messages }: Pick<View, 'messages'>, model = this.choice.name): number {
    return this.weights.tokens(messages, this.counting(model)) + this.overhead(model)
  }

  /** Tokens of an answer, if the host has limited them. */
  maxOutput(): number | undefined {
    return this.input.settings.maxOutputTokens
  }

  /**
   * The output limit of a request with this view. Many servers refuse a prompt and limit that together exceed the window. If the
   * window is only a guess, or the model stops at its end, the host's limit stays.
   */
  outputLimit(view: View): number | undefined {
    const { maxTokens, thinking } = this.requestBase
    const asked = [maxTokens, this.maxOutput()].filter((limit) => limit !== undefined)
    if (asked.length === 0) return undefined
    const limit = Math.min(...asked)
    const { contextWindow, reserve } = this.windows()
    if (modelFacts(this.choice.name)?.endsAtWindow || contextWindow.source === guessedWindow) return limit
    const room = Math.floor(contextWindow.value * (1 - nearlyFull)) - this.size(view).tokens
    const budget = thinking?.type === 'enabled' ? (numberAt(thinking, 'budget_tokens') ?? 0) + 1 : 0
    return Math.min(limit, Math.max(room, reserve.value, budget))
  }

  private sizeOptions(model: string): SizeOptions {
    // The view, and the usage of the newest answer, still include what the provider was just asked to leave out.
    const { asked: leftOut = 0 } = this.input.tracker.now().cacheEdits
    return { ...this.counting(model), measure: this.weights.measured, overhead: this.overhead(model), leftOut }
  }

  /** Throws a ConfigurationError when the settings cannot work. */
  situation(view = this.input.conversation.view(), { client, name: model }: ModelChoice = this.choice): Situation {
    const { environment, ports, settings, tracker } = this.input
    const { thinking, reproducible = [] } = this.requestBase
    const { cacheEdits, contextManagement, promptCache } = client.capabilities(model)
    const { reductions, recall, summary } = settings
    return situationOf(view, {
      now: ports.now(),
      ...this.windowFacts(client, model),
      settings,
      environment,
      size: this.size(view, model),
      weigher: this.weights,
      client: { cacheEdits, contextManagement },
      ...defined({ thinks: thinking && thinking.type !== 'disabled' }),
      cacheEdits: tracker.now().cacheEdits,
      redact: ports.redact,
      targetShare: settings.target,
      overhead: this.overhead(model),
      compactionComes: !settings.collapse && settings.compaction !== 'reactive' && !tracker.now().breaker.isOpen,
      sharesCache: summary.shareCache && promptCache && (summary.model ?? model) === model,
      reductions: { ...reductions, recall, reproducible: [...reductions.reproducible, ...reproducible] },
    })
  }

  /** Between two requests: adopts learned limits if they make a difference, and records the current values in the transcript. */
  settle(): void {
    const { conversation, settings } = this.input
    const calibration = this.learnedFor(this.choice.name)
    if (differs(calibration.factor, this.calibration.factor, worthAdopting)) this.calibration = calibration
    if (differs(this.calibration.factor, this.weights.factor, worthWeighingAgain)) this.weighAgain()
    const { client, name } = this.choice
    const note = {
      ...this.windowFacts(client, name),
      overhead: this.overhead(),
      calibration: this.calibration,
      settings: sizeSettingsIn(settings),
    }
    const text = JSON.stringify(note)
    if (text === this.recorded) return
    this.recorded = text
    conversation.note([contextNoteRecord(note, conversation.stamp())])
  }

  /** Asks the provider, once, about a model that our table does not know, unless the host has set the window. */
  async describe({ client, name }: ModelChoice = this.choice): Promise<void> {
    const { settings, guard, learned } = this.input
    const isKnown = settings.contextWindow !== undefined || modelFacts(name) || client.capabilities(name).window
    const key = keyOf(client, name)
    if (!client.describe || isKnown || learned.described.has(key)) return
    learned.described.add(key)
    await guard.call('model', () => client.describe?.(name), { timeoutMs: describeTimeoutMs })
  }

  /** The model's whole window, even if a setting restricts the session to a part of it. */
  window(): number {
    return this.windows().contextWindow.value
  }

  private windows(): Windows {
    const { client, name: model } = this.choice
    const resolved = resolveSettings({ ...this.input, model })
    return resolveWindows({ ...resolved, maxWindow: undefined }, this.windowFacts(client, model))
  }

  private hasWorkingWindow(): boolean {
    try {
      return this.windows() !== undefined
    } catch (error) {
      if (error instanceof ConfigurationError) return false
      throw error
    }
  }

  /** The window of a model, as an overflow showed it. */
  limit(client: ModelClient, model: string): number | undefined {
    const own = this.ownWindow
    const isOwn = own?.model === model && own.at === learningPlace(client)
    return this.input.learned.limits.get(keyOf(client, model)) ?? (isOwn ? own.tokens : undefined)
  }

  /** The provider's own numbers. Omitted if the client only repeats our table, or if an overflow proved them wrong. */
  private windowFacts(client: ModelClient, model: string) {
    const { window, maxOutput } = client.capabilities(model)
    const table = modelFacts(model)
    const learnedWindow = this.limit(client, model)
    const isOverruled = learnedWindow !== undefined && window !== undefined && learnedWindow < window
    const provider: NonNullable<WindowFacts['provider']> = {
      window: isOverruled || window === table?.window ? undefined : window,
      maxOutput: maxOutput === table?.maxOutput ? undefined : maxOutput,
    }
    const learnedAt = learnedWindow === undefined ? undefined : learningPlace(client)
    return { model, provider, ...defined({ learnedWindow, learnedAt }) }
  }

  /** Stores a limit that the provider named, unless it cannot be a window or no settings could work with it. */
  learnLimit({ limit, model = this.choice.name }: { readonly limit: number; readonly model?: string }): void {
    const { learned, ports } = this.input
    const { client, name } = this.choice
    const { limits } = learned
    const key = keyOf(client, model)
    const before = limits.get(key)
    if (!isWindow(limit) || limit === before) return
    if (model === name && limit === this.explanation().contextWindow.value) return
    limits.set(key, limit)
    if (this.hasWorkingWindow()) {
      ports.emit({ type: 'limit-learned', endpoint: client.endpoint ?? client.provider, model, limit })
    } else if (before === undefined) limits.delete(key)
    else limits.set(key, before)
  }

  /** Calibrates the estimate with the usage of an answer. Both count the messages since the previous answer. */
  calibrate(usage: Usage, view: View): void {
    const { learned } = this.input
    const { source, freed, reported: before, estimated: guess } = this.size(view)
    if (freed !== undefined || (source === 'estimate' && view.edits.length > 0)) return
    const reported = usage.input + usage.cacheRead + usage.cacheWrite - before
    if (usage.iterations || reported <= 0) return
    // Right after a compaction the size is not a plain estimate, so everything is counted.
    const counted = source === 'estimate' ? this.estimate(view) : withoutMargin(guess)
    const estimated = counted / (this.counting().calibration?.factor ?? 1)
    const { name } = this.choice
    const compared = { estimated, reported }
    learned.calibrations = recalibrateModel(learned.calibrations, name, compared)
    if (Object.hasOwn(this.own, name)) this.own = recalibrateModel(this.own, name, compared)
  }

  /**
   * Asks the provider to count a history that no answer of this model has counted yet, as a first calibration. Asks once per
   * model, and nothing waits for the result: the next request uses it.
   */
  async askForCount(request: ModelRequest, signal: AbortSignalPort): Promise<void> {
    const { conversation, guard, learned } = this.input
    const { client, name } = this.choice
    const key = keyOf(client, name)
    if (!client.count || learned.counted.has(key) || this.isCalibrated(name)) return
    const view = conversation.view()
    // The answer to a first question counts it.
    const answers = view.messages.filter(({ role }) => role === 'assistant')
    const isCounted = answers.some(({ usage, model }) => usage !== undefined && model === name)
    if (answers.length === 0 || isCounted) return
    const estimated = this.estimate(view) / (this.counting().calibration?.factor ?? 1)
    if (this.weights.tokens(view.messages, this.counting()) < minCompared) return
    learned.counted.add(key)
    const ask = () => client.count?.(request, { signal })
    const counted = await guard.call('model', ask, { signal })
    if (counted.type !== 'returned' || counted.value?.type !== 'counted') return
    // An answer that arrived in the meantime gives the same information.
    if (this.isCalibrated(name)) return
    const calibration = calibratedBy({ estimated, reported: counted.value.inputTokens })
    if (calibration) learned.calibrations = { ...learned.calibrations, [name]: calibration }
  }

  /** An answer that ended because the window was full is as long as the window. */
  learnFromFullWindow(tokens: number): void {
    const known = this.explanation().contextWindow.value
    if (Math.abs(tokens / known - 1) > nearlyFull) this.learnLimit({ limit: tokens })
  }
}

function differs(factor: number, from: number, by: number): boolean {
  return Math.abs(factor / from - 1) > by
}

/** Tokens of the system prompt and the tools. */
export function overheadOf(base: RequestBase, counting: Counting): number {
  return countTokens(overheadMessages(base), counting)
}

/** Converts to messages, so that the weigher can measure and cache them. */
function overheadMessages({ system, tools }: RequestBase): readonly Message[] {
  const parts = [...(system === undefined ? [] : [system]), ...(tools?.length ? [JSON.stringify(tools)] : [])]
  return parts.map((content) => ({ role: 'user', content }))
}

function converted(
  size: ContextSize,
  { model, answered }: { readonly model: string; readonly answered: string | undefined },
): ContextSize {
  const reported = convertedTokens(size.reported, { from: answered, to: model })
  return reported === size.reported ? size : { ...size, reported, tokens: reported + size.estimated }
}
