// What a session works with: its parts, and the few things about it that change. The functions of this room take a desk
// and do one thing each; nobody else holds a session's state.
import { modelFacts } from '../catalog/models.ts'
import { cheapestSize } from '../ladder/economy.ts'
import type { Ladder } from '../ladder/ladder.ts'
import { type LearnedLimits, limitOf } from '../ladder/limits.ts'
import type { RequestOptions, Situation } from '../mechanisms/mechanism.ts'
import { situationOf } from '../mechanisms/situation.ts'
import { viewSize } from '../mechanisms/size.ts'
import { createWeigher, type Weigher } from '../mechanisms/weigher.ts'
import type { Block } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { Emit } from '../ports/events.ts'
import type { Guard } from '../ports/guarded.ts'
import type { ModelClient } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Requester } from '../request/from-view.ts'
import { type ContextSize, modelOf } from '../tokens/context-size.ts'
import { type Calibration, type Calibrations, calibrationOf } from '../tokens/estimate/calibrate.ts'
import type { Counting } from '../tokens/estimate/counting.ts'
import { familyFactor } from '../tokens/estimate/family.ts'
import type { Explanation } from '../tokens/explain.ts'
import { compactionOff, type Environment, resolveSettings, type TokenSettings } from '../tokens/settings.ts'
import { resolveWindows } from '../tokens/windows.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import type { CleanUps } from './clean-up.ts'
import type { Collapser } from './collapser.ts'
import { type ContextNote, contextNoteRecord } from './context-note.ts'
import type { Conversation } from './conversation.ts'
import type { Memory } from './memory-keeper.ts'
import { type EngineSettings, targetShare } from './settings.ts'
import type { Spent } from './spent.ts'
import type { Tracking } from './tracking.ts'

/** What goes with every request beside the messages. */
export type RequestBase = {
  readonly system?: string | readonly Block[]
  readonly tools?: readonly JsonObject[]
  readonly maxTokens?: number
  readonly thinking?: JsonObject
  readonly betas?: readonly string[]
  readonly options?: JsonObject
  /** Names of tools whose results can be had again: old ones may be cleared. Not part of the request itself. */
  readonly reproducible?: readonly string[]
}

/** Ask mode: undefined, or no answer in time, means no. */
export type Ask = (question: { readonly tokens: number; readonly threshold: number }) => Promise<boolean | undefined>

/** What sessions of one engine share and learn together. */
export type Lessons = {
  calibrations: Calibrations
  limits: LearnedLimits
  /** Models that the provider has been asked about. */
  described?: Set<string>
}

export type Desk = {
  readonly conversation: Conversation
  readonly settings: EngineSettings
  readonly environment: Environment
  readonly ladder: Ladder
  readonly ports: Omit<CompactionPorts, 'model'>
  readonly emit: Emit
  /** For every call of host code that has no port of its own. */
  readonly guard: Guard
  readonly ask?: Ask | undefined
  readonly lessons: Lessons
  model: ModelClient
  /** The model's name in requests. */
  modelName: string
  base: RequestBase
  readonly requester: Requester
  tracking: Tracking
  weigher: Weigher
  /** The size that was last asked for: it is asked for several times before each request. */
  sized: { readonly view: View; readonly key: string; readonly size: ContextSize } | undefined
  /** How long the provider keeps a prefix, in milliseconds, as the newest answer that wrote one tells. */
  cacheLifetime: number | undefined
  /** In a thrifty session: the size at which a compaction costs the least. */
  cheapest: number | undefined
  /** As far as it has been adopted: sizes do not jitter with every answer that teaches a little. */
  calibration: Calibration
  /** The newest note about all this in the transcript. */
  noted: string | undefined
  /** What the server was asked to leave out of the next request. */
  delegated: RequestOptions | undefined
  spent: Spent
  readonly cleanUps: CleanUps
  /** Notes about the session, or why there are none. */
  readonly memory?: Memory | undefined
  /** In collapse mode. */
  readonly collapser?: Collapser | undefined
}

export type ModelChoice = { readonly client: ModelClient; readonly name: string }

type Counted = Pick<Desk, 'settings' | 'lessons'> & Partial<Pick<Desk, 'calibration' | 'modelName'>>

export function countingFor({ settings, lessons, calibration, modelName }: Counted, model: string): Counting {
  const adopted = model === modelName ? calibration : undefined
  return { estimator: settings.estimator, model, calibration: adopted ?? calibrationOf(lessons.calibrations, model) }
}

const worthAdopting = 0.02
/** Plans that weigh otherwise than the size is counted get their sums wrong; weighing all again is work. */
const worthWeighingAgain = 0.1

const isOff = (factor: number, by: number, most: number): boolean => Math.abs(factor / by - 1) > most

/** Between two requests: what was learned since, if it makes a difference, and a note of what holds from now on. */
export function settleContext(desk: Desk): void {
  settleThreshold(desk)
  const { lessons, modelName: model, conversation, model: client } = desk
  const learned = calibrationOf(lessons.calibrations, model)
  if (isOff(learned.factor, desk.calibration.factor, worthAdopting)) desk.calibration = learned
  if (isOff(desk.calibration.factor, desk.weigher.factor, worthWeighingAgain)) desk.weigher = freshWeigher(desk, model)
  const learnedWindow = limitOf(lessons.limits, client, model)
  const note = {
    model,
    overhead: overheadOf(desk),
    calibration: desk.calibration,
    settings: tokenSettings(settingsNow(desk)),
    provider: providerFacts(client, model, learnedWindow),
    ...(learnedWindow === undefined ? {} : { learnedWindow }),
  }
  const text = JSON.stringify(note)
  if (text === desk.noted) return
  desk.noted = text
  const timestamp = new Date(desk.ports.now()).toISOString()
  conversation.note([contextNoteRecord(note, { timestamp, sessionId: conversation.place().sessionId })])
}

/** Thrifty: where a compaction is the cheapest, as far as the conversation has shown it. */
function settleThreshold(desk: Desk): void {
  if (desk.settings.economy !== 'thrifty') return
  const view = desk.conversation.view()
  const { settings, cheapest: before } = desk
  desk.cheapest = cheapestSize(view, situationIn(desk, view), { settings, overhead: overheadOf(desk), before })
}

/** With the threshold of a thrifty session, unless the host has set one or a compaction came to nothing there. */
function settingsNow({ settings, cheapest, tracking }: Desk): EngineSettings {
  if (cheapest === undefined || settings.autoCompactAt !== undefined || tracking.breaker.failures > 0) return settings
  return { ...settings, autoCompactAt: cheapest }
}

function tokenSettings(all: EngineSettings): TokenSettings {
  const { reductions, mode, economy, target, background, cacheMarks, estimator, askTimeoutMs, ...tokens } = all
  return tokens
}

export function freshWeigher(desk: Counted, model: string): Weigher {
  return createWeigher(countingFor(desk, model))
}

/** System prompt, tools and memory files: what no compaction makes smaller. Without the margin. */
export function overheadOf(desk: Desk, model: string = desk.modelName): number {
  return desk.weigher.tokens(desk.weigher.once(overheadMessages, desk.base), countingFor(desk, model))
}

/** As messages, so that they are measured once like these. */
function overheadMessages({ system, tools }: RequestBase): readonly Message[] {
  const parts = [...(system === undefined ? [] : [system]), ...(tools?.length ? [JSON.stringify(tools)] : [])]
  return parts.map((content) => ({ role: 'user', content }))
}

/** The one size: gauge, trigger, and the measure of every success. */
export function sizeOf(desk: Desk, view: View, model: string = desk.modelName): ContextSize {
  const counting = countingFor(desk, model)
  const overhead = overheadOf(desk, model)
  // What the provider was just asked to leave out still stands in the view, and in the usage of the newest answer.
  const { asked = 0 } = desk.tracking.cacheEdits
  const key = `${model} ${counting.calibration?.factor} ${overhead} ${asked}`
  if (desk.sized?.view === view && desk.sized.key === key) return desk.sized.size
  const counted = viewSize(view, { ...counting, measure: desk.weigher.measured, overhead, leftOut: asked })
  const size = inTokensOf(counted, { model, answered: modelOf(view.messages) })
  desk.sized = { view, key, size }
  return size
}

/** What another model counted, in the tokens of this one. */
function inTokensOf(
  size: ContextSize,
  { model, answered }: { readonly model: string; readonly answered: string | undefined },
): ContextSize {
  if (answered === undefined || answered === model || size.reported === 0) return size
  const reported = Math.ceil((size.reported * familyFactor(model)) / familyFactor(answered))
  return { ...size, reported, tokens: reported + size.estimated }
}

/** Throws a ConfigurationError when the settings cannot work. */
export function situationIn(desk: Desk, view: View, choice?: ModelChoice): Situation {
  const { environment, lessons, ports } = desk
  const settings = settingsNow(desk)
  const client = choice?.client ?? desk.model
  const model = choice?.name ?? desk.modelName
  const { cacheEdits, contextManagement } = client.capabilities(model)
  const learned = limitOf(lessons.limits, client, model)
  return situationOf(view, {
    now: ports.now(),
    model,
    settings,
    environment,
    provider: providerFacts(client, model, learned),
    learnedWindow: learned,
    size: sizeOf(desk, view, model),
    weigher: desk.weigher,
    client: { cacheEdits, contextManagement },
    ...(desk.base.thinking === undefined ? {} : { thinks: desk.base.thinking.type !== 'disabled' }),
    cacheEdits: desk.tracking.cacheEdits,
    targetShare: targetShare(settings),
    compactionComes: (settings.mode ?? 'proactive') === 'proactive' && !desk.tracking.breaker.isOpen,
    ...(desk.cacheLifetime === undefined ? {} : { cacheLifetime: desk.cacheLifetime }),
    reductions: {
      ...settings.reductions,
      reproducible: [...(settings.reductions?.reproducible ?? []), ...(desk.base.reproducible ?? [])],
    },
  })
}

/** What the provider itself says: a client that knows no better repeats our table, and an overflow is the later word. */
function providerFacts(client: ModelClient, model: string, learned: number | undefined): ContextNote['provider'] {
  const { window, maxOutput } = client.capabilities(model)
  const table = modelFacts(model)
  const isOverruled = learned !== undefined && window !== undefined && learned < window
  return {
    window: isOverruled || window === table?.window ? undefined : window,
    maxOutput: maxOutput === table?.maxOutput ? undefined : maxOutput,
  }
}

/** The window of the session's model as it is, also where a setting lets the session use only a part of it. */
export function modelWindow(desk: Desk): number {
  const { environment, lessons, model: client, modelName: model } = desk
  const learnedWindow = limitOf(lessons.limits, client, model)
  const settings = resolveSettings({ settings: desk.settings, environment, model })
  const facts = { model, provider: providerFacts(client, model, learnedWindow), learnedWindow }
  return resolveWindows({ ...settings, autoCompactWindow: undefined }, facts).contextWindow.value
}

const describeTimeoutMs = 5_000

/** Of a model that no table knows, the provider is asked for its window: once, and not for long. */
export async function describeModel(desk: Desk, { client, name }: ModelChoice): Promise<void> {
  const { lessons, settings, guard } = desk
  lessons.described ??= new Set()
  const key = `${client.endpoint ?? client.provider} ${name}`
  const isKnown = settings.contextWindow !== undefined || modelFacts(name) !== undefined
  if (!client.describe || isKnown || client.capabilities(name).window !== undefined || lessons.described.has(key))
    return
  lessons.described.add(key)
  await guard.call('model', () => client.describe?.(name), { timeoutMs: describeTimeoutMs })
}

/** Why nothing may make the context smaller, not even by hand; undefined when it may. */
export function whyCompactionIsOff({ settings, environment }: Desk): string | undefined {
  return compactionOff({ settings, environment })
}

/** Edits that make the context smaller, with the size from before. */
export function withSize(desk: Desk, edits: readonly Edit[]): readonly Edit[] {
  const size = sizeOf(desk, desk.conversation.view()).tokens
  return edits.map((edit) => ({ ...edit, size }))
}

export function explainDesk(desk: Desk): Explanation {
  return situationIn(desk, desk.conversation.view()).explanation
}
