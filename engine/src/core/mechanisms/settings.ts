// Settings of the reductions that need no model.
import { defined } from '../message/json.ts'
import type { NamedKinds } from '../tools/call.ts'

export type ReductionSettings = {
  /** false turns all three micro-compactions off. */
  readonly microCompact: false | 'above-warning' | 'always'
  /** Clear only where it pays; false clears whatever it costs. */
  readonly weigh: boolean
  /** Leave the id with which the recall tool finds the original. */
  readonly recall: boolean
  /** Exact names of tools whose results the host can have again, those of MCP servers included. */
  readonly reproducible: readonly string[]
  /** What the host's own tools are; null for a tool that is not what its name suggests. */
  readonly toolKinds: NamedKinds
  /** What to do if thinking behind the change is bound to the prefix. */
  readonly boundThinking: 'delegate' | 'remove' | 'decline'
  /** Whether the newest results also stay after their turn; false clears them once a person has spoken again. */
  readonly keepFinished: boolean
  /** Whether long inputs of writing tools go with their results; not with cache edits. */
  readonly clearInputs: boolean
  readonly bySize: {
    readonly keep: number
    /** Tokens of tool results that may stay. */
    readonly target: number
    /** Less is not worth breaking the cache. */
    readonly minFreed: number
  }
  readonly byIdle: { readonly minutes: number; readonly keep: number }
  readonly byCacheEdit: { readonly trigger: number; readonly keep: number }
  /** A session asks the server only where this is set. */
  readonly native: {
    readonly toolResults: boolean
    readonly toolInputs: boolean
    readonly thinking: boolean
    readonly trigger: number
    readonly keepTokens: number
    readonly clearAtLeast: number
    readonly idleMinutes: number
  }
}

export type ReductionChoices = {
  readonly [Key in keyof ReductionSettings]?: ReductionSettings[Key] extends Readonly<Record<string, number | boolean>>
    ? Partial<ReductionSettings[Key]>
    : ReductionSettings[Key]
}

export const defaultReductions: ReductionSettings = {
  microCompact: 'above-warning',
  weigh: true,
  recall: false,
  reproducible: [],
  toolKinds: {},
  boundThinking: 'delegate',
  keepFinished: true,
  clearInputs: false,
  bySize: { keep: 3, target: 40_000, minFreed: 20_000 },
  byIdle: { minutes: 60, keep: 5 },
  byCacheEdit: { trigger: 12, keep: 5 },
  native: {
    toolResults: true,
    toolInputs: true,
    thinking: true,
    trigger: 180_000,
    keepTokens: 40_000,
    clearAtLeast: 20_000,
    idleMinutes: 60,
  },
}

/** Numbers below 0, and what is not a number at all, count as not given. */
export function reductionSettings(choices: ReductionChoices = {}): ReductionSettings {
  const { bySize, byIdle, byCacheEdit, native, ...rest } = choices
  return {
    ...defaultReductions,
    ...defined(rest),
    bySize: merged(defaultReductions.bySize, bySize),
    byIdle: merged(defaultReductions.byIdle, byIdle),
    byCacheEdit: merged(defaultReductions.byCacheEdit, byCacheEdit),
    native: merged(defaultReductions.native, native),
  }
}

function merged<T extends Readonly<Record<string, number | boolean>>>(defaults: T, choices: Partial<T> = {}): T {
  const isUsable = ([key, value]: readonly [string, unknown]) =>
    typeof value === typeof defaults[key] && (typeof value !== 'number' || (Number.isFinite(value) && value >= 0))
  return { ...defaults, ...Object.fromEntries(Object.entries(choices).filter(isUsable)) }
}
