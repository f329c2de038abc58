// What a session works with: its parts, and the few things about it that change. The functions of this room take a desk
// and do one thing each; nobody else holds a session's state.
import { modelFacts } from '../catalog/models.ts'
import type { RequestOptions, Situation } from '../mechanisms/mechanism.ts'
import { situationOf } from '../mechanisms/situation.ts'
import { viewSize } from '../mechanisms/size.ts'
import { createWeigher, type Weigher } from '../mechanisms/weigher.ts'
import type { Block } from '../message/block.ts'
import type { JsonObject } from '../message/json.ts'
import type { Emit } from '../ports/events.ts'
import type { ModelClient } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { type Calibrations, calibrationOf } from '../tokens/calibrate.ts'
import { type ContextSize, modelOf } from '../tokens/context-size.ts'
import { type Counting, countTokens } from '../tokens/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import { familyFactor } from '../tokens/family.ts'
import type { Environment } from '../tokens/settings.ts'
import type { View } from '../transcript/fold.ts'
import type { Conversation } from './conversation.ts'
import { type LearnedLimits, limitOf } from './limits.ts'
import type { Ladder } from './rung.ts'
import type { EngineSettings } from './settings.ts'
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
export type Lessons = { calibrations: Calibrations; limits: LearnedLimits }

export type Desk = {
  readonly conversation: Conversation
  readonly settings: EngineSettings
  readonly environment: Environment
  readonly ladder: Ladder
  readonly ports: Omit<CompactionPorts, 'model'>
  readonly emit: Emit
  readonly ask?: Ask | undefined
  readonly lessons: Lessons
  model: ModelClient
  /** The model's name in requests. */
  modelName: string
  base: RequestBase
  tracking: Tracking
  weigher: Weigher
  /** What the server was asked to leave out of the next request. */
  delegated: RequestOptions | undefined
}

export type ModelChoice = { readonly client: ModelClient; readonly name: string }

export function countingFor({ settings, lessons }: Pick<Desk, 'settings' | 'lessons'>, model: string): Counting {
  return { estimator: settings.estimator, model, calibration: calibrationOf(lessons.calibrations, model) }
}

export function freshWeigher(desk: Pick<Desk, 'settings' | 'lessons'>, model: string): Weigher {
  return createWeigher(countingFor(desk, model))
}

/** System prompt, tools and memory files: what no compaction makes smaller. Without the margin. */
export function overheadOf(desk: Desk, model: string = desk.modelName): number {
  const { system, tools } = desk.base
  const parts = [...(system === undefined ? [] : [system]), ...(tools?.length ? [JSON.stringify(tools)] : [])]
  const messages = parts.map((content) => ({ role: 'user', content }) as const)
  return countTokens(messages, countingFor(desk, model))
}

/** The one size: gauge, trigger, and the measure of every success. */
export function sizeOf(desk: Desk, view: View, model: string = desk.modelName): ContextSize {
  const size = viewSize(view, { ...countingFor(desk, model), overhead: overheadOf(desk, model) })
  return inTokensOf(size, { model, answered: modelOf(view.messages) })
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
  const { settings, environment, lessons, ports } = desk
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
    cacheEdits: desk.tracking.cacheEdits,
    reductions: {
      ...settings.reductions,
      reproducible: [...(settings.reductions?.reproducible ?? []), ...(desk.base.reproducible ?? [])],
    },
  })
}

/** What the provider itself says: a client that knows no better repeats our table, and an overflow is the later word. */
function providerFacts(client: ModelClient, model: string, learned: number | undefined) {
  const { window, maxOutput } = client.capabilities(model)
  const table = modelFacts(model)
  const isOverruled = learned !== undefined && window !== undefined && learned < window
  return {
    window: isOverruled || window === table?.window ? undefined : window,
    maxOutput: maxOutput === table?.maxOutput ? undefined : maxOutput,
  }
}

export function explainDesk(desk: Desk): Explanation {
  return situationIn(desk, desk.conversation.view()).explanation
}
