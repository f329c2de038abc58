// The model in use, and how full its context window is. Everybody reads the same size and the same thresholds here: the
// gauge a person sees, the trigger of compaction, and the check whether a compaction was worth it.
import { cacheStateOf, lifetimeWritten } from '../cache/state.ts'
import { describeModel, endpointOf, type LearnedLimits, limitOf, providerFacts, withLimit } from '../ladder/limits.ts'
import type { Situation } from '../mechanisms/mechanism.ts'
import { situationOf } from '../mechanisms/situation.ts'
import { viewSize } from '../mechanisms/size.ts'
import { createWeigher, type Weigher } from '../mechanisms/weigher.ts'
import type { Block } from '../message/block.ts'
import { defined, type JsonObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'
import type { Guard } from '../ports/guarded.ts'
import type { ModelClient } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { ContextSize } from '../tokens/context-size.ts'
import { type Calibration, type Calibrations, calibrationOf, recalibrateModel } from '../tokens/estimate/calibrate.ts'
import { type Counting, familyFactor } from '../tokens/estimate/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import { ConfigurationError } from '../tokens/figure.ts'
import { type Environment, resolveSettings, type TokenSettings } from '../tokens/settings.ts'
import { resolveWindows } from '../tokens/windows.ts'
import type { View } from '../transcript/view/fold.ts'
import { contextNoteRecord } from './context-note.ts'
import type { Conversation } from './conversation.ts'
import { compactionMode, type EngineSettings, reductionsOf, targetShare } from './settings.ts'
import type { Tracker } from './tracking.ts'

/** What every request carries besides the messages. */
export type RequestBase = {
  readonly system?: string | readonly Block[]
  readonly tools?: readonly JsonObject[]
  readonly maxTokens?: number
  readonly thinking?: JsonObject
  readonly betas?: readonly string[]
  readonly options?: JsonObject
  /** Tools whose results can be produced again, so old ones may be cleared. Not part of the request itself. */
  readonly reproducible?: readonly string[]
}

export type ModelChoice = { readonly client: ModelClient; readonly name: string }

/** What all sessions of an engine learn together. */
export type Learned = {
  calibrations: Calibrations
  limits: LearnedLimits
  /** Models that the provider was asked about. */
  readonly described: Set<string>
}

export function nothingLearned(): Learned {
  return { calibrations: {}, limits: {}, described: new Set() }
}

export type GaugeInput = {
  readonly conversation: Conversation
  readonly tracker: Tracker
  readonly settings: EngineSettings
  readonly environment: Environment
  readonly ports: Pick<CompactionPorts, 'now' | 'emit'>
  readonly guard: Guard
  readonly learned: Learned
  readonly model: ModelChoice
  readonly base: RequestBase
}

/** A smaller change of the calibration is not adopted, so that sizes do not jitter with every answer. */
const worthAdopting = 0.02
/** From this difference on messages are weighed again: plans must use the same counts as the size. */
const worthWeighingAgain = 0.1

/** An answer that ends this close to the known window confirms it. */
const nearlyFull = 0.01

export class Gauge {
  private readonly input: GaugeInput
  private choice: ModelChoice
  private requestBase: RequestBase
  private calibration: Calibration
  private weights: Weigher
  /** How long the provider keeps a prefix, in milliseconds, according to the newest answer that wrote one. */
  private lifetime: number
  /** The last computed size: it is needed several times before each request. */
  private known: { readonly view: View; readonly key: string; readonly size: ContextSize } | undefined
  /** The newest context note in the transcript. */
  private noted: string | undefined

  constructor(input: GaugeInput) {
    this.input = input
    this.choice = input.model
    this.requestBase = input.base
    this.calibration = calibrationOf(input.learned.calibrations, input.model.name)
    this.weights = createWeigher(this.counting())
    this.lifetime = cacheStateOf({ messages: input.conversation.view().messages, now: 0 }).lifetime
  }

  model = (): ModelChoice => this.choice
  base = (): RequestBase => this.requestBase
  weigher = (): Weigher => this.weights
  cacheLifetime = (): number => this.lifetime
  explanation = (): Explanation => this.situation().explanation

  configure(base: RequestBase): void {
    this.requestBase = { ...this.requestBase, ...base }
  }

  useModel(choice: ModelChoice): void {
    this.choice = choice
    this.calibration = calibrationOf(this.input.learned.calibrations, choice.name)
    this.weighAgain()
  }

  /** Forgets the weights of messages that have left the view. */
  weighAgain(): void {
    this.weights = createWeigher(this.counting())
  }

  counting(model = this.choice.name): Counting {
    const isAdopted = model === this.choice.name
    const calibration = isAdopted ? this.calibration : calibrationOf(this.input.learned.calibrations, model)
    return { estimator: this.input.settings.estimator, model, calibration }
  }

  /** System prompt and tools: what no compaction reduces. Without the margin. */
  overhead(model = this.choice.name): number {
    return this.weights.tokens(this.weights.once(overheadMessages, this.requestBase), this.counting(model))
  }

  size(view = this.input.conversation.view(), model = this.choice.name): ContextSize {
    const counting = this.counting(model)
    const overhead = this.overhead(model)
    // The view, and the usage of the newest answer, still include what the provider was just asked to leave out.
    const { asked = 0 } = this.input.tracker.now().cacheEdits
    const key = `${model} ${counting.calibration?.factor} ${overhead} ${asked}`
    if (this.known?.view === view && this.known.key === key) return this.known.size
    const counted = viewSize(view, { ...counting, measure: this.weights.measured, overhead, leftOut: asked })
    const answer = view.messages.findLast(({ uuid }) => uuid === counted.anchorUuid)
    const size = converted(counted, { model, answered: answer?.model })
    this.known = { view, key, size }
    return size
  }

  /** Throws a ConfigurationError when the settings cannot work. */
  situation(view = this.input.conversation.view(), { client, name: model }: ModelChoice = this.choice): Situation {
    const { environment, ports, settings, tracker } = this.input
    const { thinking, reproducible = [] } = this.requestBase
    const { cacheEdits, contextManagement } = client.capabilities(model)
    const learnedWindow = this.limit(client, model)
    const reductions = reductionsOf(settings)
    return situationOf(view, {
      now: ports.now(),
      model,
      settings,
      environment,
      provider: providerFacts(client, model, learnedWindow),
      learnedWindow,
      size: this.size(view, model),
      weigher: this.weights,
      client: { cacheEdits, contextManagement },
      ...defined({ thinks: thinking && thinking.type !== 'disabled' }),
      cacheEdits: tracker.now().cacheEdits,
      targetShare: targetShare(settings),
      compactionComes: compactionMode(settings) === 'proactive' && !tracker.now().breaker.isOpen,
      cacheLifetime: this.lifetime,
      reductions: { ...reductions, reproducible: [...(reductions.reproducible ?? []), ...reproducible] },
    })
  }

  /** Between two requests: adopts what was learned if it makes a difference, and notes in the transcript what now holds. */
  settle(): void {
    const { ports, learned } = this.input
    const calibration = calibrationOf(learned.calibrations, this.choice.name)
    if (differs(calibration.factor, this.calibration.factor, worthAdopting)) this.calibration = calibration
    if (differs(this.calibration.factor, this.weights.factor, worthWeighingAgain)) this.weighAgain()
    this.note(new Date(ports.now()).toISOString())
  }

  /** Asks the provider about a model that our table does not know, unless the host has set the window. */
  async describe({ client, name }: ModelChoice = this.choice): Promise<void> {
    const { settings, guard, learned } = this.input
    if (settings.contextWindow === undefined) await describeModel(client, name, { guard, described: learned.described })
  }

  /** The model's whole window, even if a setting lets the session use only part of it. */
  window(): number {
    const { client, name: model } = this.choice
    const { environment, settings } = this.input
    const learnedWindow = this.limit(client, model)
    const resolved = resolveSettings({ settings, environment, model })
    const facts = { model, provider: providerFacts(client, model, learnedWindow), learnedWindow }
    return resolveWindows({ ...resolved, autoCompactWindow: undefined }, facts).contextWindow.value
  }

  /** The learned limit of a model, if there is one. */
  limit(client: ModelClient, model: string): number | undefined {
    return limitOf(this.input.learned.limits, client, model)
  }

  /** Notes a limit that the provider told us. A limit with which no settings could work is ignored. */
  learnLimit({ limit, model = this.choice.name }: { readonly limit: number; readonly model?: string }): void {
    const { learned, ports } = this.input
    const { client } = this.choice
    const before = learned.limits
    if (model === this.choice.name && limit === this.explanation().contextWindow.value) return
    learned.limits = withLimit(before, { client, model, limit })
    if (learned.limits === before) return
    try {
      this.situation()
      ports.emit({ type: 'limit-learned', endpoint: endpointOf(client), model, limit })
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      learned.limits = before
    }
  }

  /** Calibrates the estimate with the usage of an answer: both count what came since the answer before. */
  calibrate(usage: Usage): void {
    const { learned, conversation } = this.input
    const view = conversation.view()
    const { source, freed, reported: before, estimated: guess } = this.size(view)
    if (freed !== undefined || (source === 'estimate' && view.edits.length > 0)) return
    const reported = usage.input + usage.cacheRead + usage.cacheWrite - before
    if (usage.iterations || reported <= 0) return
    // Without the margin of a third and without the calibration.
    const estimated = (guess * 3) / 4 / (this.counting().calibration?.factor ?? 1)
    learned.calibrations = recalibrateModel(learned.calibrations, this.choice.name, { estimated, reported })
  }

  /** An answer that ended because the window was full is as long as the window. */
  learnFromFullWindow(tokens: number): void {
    const known = this.explanation().contextWindow.value
    if (Math.abs(tokens / known - 1) > nearlyFull) this.learnLimit({ limit: tokens })
  }

  cacheWritten(usage: Usage): void {
    if (usage.cacheWrite > 0) this.lifetime = lifetimeWritten(usage)
  }

  private note(timestamp: string): void {
    const { conversation, settings } = this.input
    const { client, name: model } = this.choice
    const learnedWindow = this.limit(client, model)
    const note = {
      model,
      overhead: this.overhead(),
      calibration: this.calibration,
      settings: tokenSettings(settings),
      provider: providerFacts(client, model, learnedWindow),
      ...defined({ learnedWindow }),
    }
    const text = JSON.stringify(note)
    if (text === this.noted) return
    this.noted = text
    conversation.note([contextNoteRecord(note, { timestamp, sessionId: conversation.place().sessionId })])
  }
}

function differs(factor: number, from: number, by: number): boolean {
  return Math.abs(factor / from - 1) > by
}

function tokenSettings(all: EngineSettings): TokenSettings {
  const {
    reductions,
    summary,
    recall,
    isAutonomous,
    collapse,
    economy,
    keep,
    target,
    background,
    cacheMarks,
    estimator,
    askTimeoutMs,
    ...tokens
  } = all
  return tokens
}

/** As messages, so that the weigher can measure and remember them. */
function overheadMessages({ system, tools }: RequestBase): readonly Message[] {
  const parts = [...(system === undefined ? [] : [system]), ...(tools?.length ? [JSON.stringify(tools)] : [])]
  return parts.map((content) => ({ role: 'user', content }))
}

/** What another model counted, in tokens of this one. */
function converted(
  size: ContextSize,
  { model, answered }: { readonly model: string; readonly answered: string | undefined },
): ContextSize {
  if (answered === undefined || answered === model || size.reported === 0) return size
  const reported = Math.ceil((size.reported * familyFactor(model)) / familyFactor(answered))
  return { ...size, reported, tokens: reported + size.estimated }
}
