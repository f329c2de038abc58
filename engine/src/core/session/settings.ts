// The settings of an engine: windows and thresholds, reductions, and the session itself.

import type { CompactionSettings } from '../compaction/job.ts'
import type { ReductionChoices } from '../mechanisms/settings.ts'
import type { MemoryKeep } from '../memory/plan.ts'
import type { MemorySettings } from '../memory/trigger.ts'
import { defined } from '../message/json.ts'
import type { EstimatorName } from '../tokens/estimate/counting.ts'
import { type Environment, isTruthy, type TokenSettings } from '../tokens/settings.ts'

export type MemoryChoices = Partial<MemorySettings> & { readonly keep?: Partial<MemoryKeep> }

export type EngineSettings = TokenSettings & {
  /** How a summary is made and how long it may be. */
  readonly summary?: Partial<Omit<CompactionSettings, 'targetShare'>>
  /** What is cleared without a summary, and when. */
  readonly reductions?: Omit<ReductionChoices, 'recall'>
  /** The agent has the recall tool: what leaves the context says how to read it again. */
  readonly recall?: boolean
  /** The agent works alone: after a compaction it goes on without waiting for a person. */
  readonly isAutonomous?: boolean
  /** Prepare summaries of finished parts in the background, and use them when the context is full. */
  readonly collapse?: boolean
  /** default: the context fills up to the threshold. thrifty: clear and compact as soon as it pays. */
  readonly economy?: 'default' | 'thrifty'
  /** Notes about the session, taken in the background; `false` for none. */
  readonly sessionMemory?: boolean | MemoryChoices
  /**
   * The newest messages that an automatic compaction keeps verbatim: a number of messages, or as many as fit into this many
   * tokens. Never more than half of the compaction's target. Default: none.
   */
  readonly keep?: number | { readonly tokens: number }
  /** A compaction must get below this share of the threshold. Default: 0.6. */
  readonly target?: number
  /** Prepare a compaction while work goes on, from this share of the threshold on: 0.8 when only turned on. */
  readonly background?: boolean | { readonly from: number }
  /** Marks for the prompt cache; `false` for none. */
  readonly cacheMarks?: false | '5m' | '1h'
  readonly estimator?: EstimatorName
  /** How long the host may take to answer in ask mode, in milliseconds. Default: 60,000. No answer means no. */
  readonly askTimeoutMs?: number
}

/** What the reductions may do, and whether there is a recall tool. */
export function reductionsOf({ reductions, recall }: EngineSettings): ReductionChoices {
  return { ...reductions, ...defined({ recall }) }
}

/** The host's own settings take precedence. */
export function withEnvironment(settings: EngineSettings, environment: Environment): EngineSettings {
  const isCollapsing = settings.collapse === undefined && isTruthy(environment.CLAUDE_CONTEXT_COLLAPSE)
  return isCollapsing ? { ...settings, collapse: true } : settings
}

/** What keeps the context small: compaction, nothing until the provider refuses a request, or collapse. */
export function compactionMode({ compaction, collapse }: EngineSettings): 'proactive' | 'reactive-only' | 'collapse' {
  if (collapse) return 'collapse'
  return compaction === 'reactive' ? 'reactive-only' : 'proactive'
}

const usualTarget = 0.6
const usualHeadStart = 0.8
const usualPatience = 60_000

export function targetShare({ target }: EngineSettings): number {
  return target !== undefined && target > 0 && target < 1 ? target : usualTarget
}

/** The share of the threshold from which a compaction is prepared in the background; undefined when it is off. */
export function headStart({ background }: EngineSettings): number | undefined {
  if (background === undefined || background === false) return undefined
  const from = background === true ? usualHeadStart : background.from
  return from > 0 && from < 1 ? from : usualHeadStart
}

export function patience({ askTimeoutMs }: EngineSettings): number {
  return askTimeoutMs !== undefined && askTimeoutMs >= 0 ? askTimeoutMs : usualPatience
}

/** Session memory is on unless it is turned off. */
export function memoryChoices({ sessionMemory }: EngineSettings): MemoryChoices {
  if (sessionMemory === undefined || typeof sessionMemory === 'boolean') return { isOn: sessionMemory !== false }
  return sessionMemory
}
