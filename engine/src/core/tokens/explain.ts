// How full the context is, what happens at which size, and why. Nothing else computes these numbers.
import type { ViewMessage } from '../message/message.ts'
import {
  type ResolvedSettings,
  resolveSettings,
  type SettingsInput,
  type Sourced,
  tokensOfMark,
} from '../settings/resolve.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from './context-size.ts'
import { type Figure, formatNumber } from './figure.ts'
import { inProportion, minUsable, resolveWindows, type WindowFacts, type Windows } from './windows.ts'

export type ExplainInput = SettingsInput &
  WindowFacts &
  SizeOptions & {
    readonly size?: ContextSize | undefined
    readonly messages?: readonly ViewMessage[] | undefined
    /** The last compaction was undone, and no other followed. */
    readonly isCompactionUndone?: boolean | undefined
  }

type Thresholds = {
  readonly autoCompact: {
    readonly mode: boolean | 'ask'
    readonly source: string
    /** The threshold before the last compaction was undone. The blocking limit replaces it until the next compaction. */
    readonly heldBackFrom?: number
  }
  readonly manualCompact: { readonly allowed: boolean; readonly source: string }
  readonly autoCompactThreshold: Figure
  /** The size at which the gauge shows 0 % left: the threshold, or the effective window if auto-compact is off. */
  readonly limit: Figure
  readonly warning: Figure
  readonly error: Figure
  readonly blocking: Figure
}

/** From best to worst. */
export type ContextState = 'ok' | 'warning' | 'error' | 'over-threshold' | 'blocking'

export type Explanation = Windows &
  Thresholds & {
    readonly model: string | undefined
    readonly size: ContextSize
    readonly percentLeft: number
    readonly state: ContextState
    readonly isAboveWarning: boolean
    readonly isAboveError: boolean
    /** Never true while auto-compact is off. */
    readonly isAboveThreshold: boolean
    readonly isBlocking: boolean
    readonly warnings: readonly string[]
  }

/** Throws a ConfigurationError if the settings cannot work. */
export function explain(input: ExplainInput): Explanation {
  const messages = input.messages ?? []
  const model = input.model ?? modelOf(messages)
  const settings = resolveSettings({ ...input, model })
  const windows = resolveWindows(settings, { ...input, model })
  const thresholds = resolveThresholds(settings, windows, input)
  const size = input.size ?? contextSize(messages, { ...input, model })
  const used = size.tokens
  const is = {
    isAboveWarning: used >= thresholds.warning.value,
    isAboveError: used >= thresholds.error.value,
    isAboveThreshold: thresholds.autoCompact.mode !== false && used >= thresholds.autoCompactThreshold.value,
    isBlocking: used >= thresholds.blocking.value,
  }
  const { value: limit } = thresholds.limit
  const percentLeft = Math.max(0, Math.round(((limit - used) / limit) * 100))
  const warnings = [...settings.warnings, ...cappedIn(settings, { ...windows, ...thresholds })]
  return { model, size, ...windows, ...thresholds, percentLeft, state: stateOf(is), ...is, warnings }
}

/** A requested value that is not possible, from a setting or a variable. */
function cappedIn(asked: ResolvedSettings, given: Windows & Thresholds): readonly string[] {
  const figures = [
    asked.maxWindow && given.contextWindow,
    asked.autoCompactAt && given.autoCompactThreshold,
    asked.blockingLimit && given.blocking,
  ]
  return figures.flatMap((figure) => {
    if (!figure?.clamped) return []
    const { from, why } = figure.clamped
    return [`${formatNumber(figure.value)} tokens are used in place of ${formatNumber(from)}: ${why}.`]
  })
}

type Flags = Pick<Explanation, 'isAboveWarning' | 'isAboveError' | 'isAboveThreshold' | 'isBlocking'>

function stateOf({ isAboveWarning, isAboveError, isAboveThreshold, isBlocking }: Flags): ContextState {
  if (isBlocking) return 'blocking'
  if (isAboveThreshold) return 'over-threshold'
  if (isAboveError) return 'error'
  return isAboveWarning ? 'warning' : 'ok'
}

/** Distances in a window of at least 200,000 tokens. They shrink with smaller windows. */
const compactBuffer = 13_000
const gaugeDistance = 20_000
const blockingBuffer = 3_000
/** Share of the limit. Without it, the gauge would be red from the start if the threshold is low. */
const maxDistanceShare = 0.25

function resolveThresholds(
  settings: ResolvedSettings,
  windows: Windows,
  { isCompactionUndone }: Pick<ExplainInput, 'isCompactionUndone'>,
): Thresholds {
  const [window, effectiveWindow] = [windows.contextWindow.value, windows.effectiveWindow.value]
  const { value: mode, source } = settings.compaction
  const autoMode = mode === 'ask' ? mode : mode === 'auto' || mode === 'reactive'
  const blocking: Figure = settings.blockingLimit
    ? blockingFrom(settings.blockingLimit, effectiveWindow)
    : less(effectiveWindow, inProportion(blockingBuffer, window))
  const standard = less(effectiveWindow, inProportion(compactBuffer, window))
  const wanted = thresholdOf(settings, { effectiveWindow, standard, blocking: blocking.value })
  const isHeldBack = isCompactionUndone === true && autoMode !== false
  const autoCompactThreshold: Figure = isHeldBack ? { value: blocking.value, source: heldBack } : wanted
  const limit: Figure =
    autoMode === false
      ? { value: effectiveWindow, source: 'the effective window, because auto-compact is off' }
      : { value: autoCompactThreshold.value, source: 'the auto-compact threshold' }
  return {
    autoCompact: { mode: autoMode, source, ...(isHeldBack ? { heldBackFrom: wanted.value } : {}) },
    manualCompact: mode === 'off' ? { allowed: false, source } : { allowed: true, source: 'default' },
    autoCompactThreshold,
    limit,
    warning: before(limit, window, settings.warningDistance),
    error: before(limit, window, settings.errorDistance),
    blocking,
  }
}

const heldBack = 'the blocking limit, because the last compaction was undone'

/** A compaction has to end well below this size, or the next one would follow at once. */
export function lastingThreshold({ autoCompact, autoCompactThreshold }: Thresholds): number {
  return autoCompact.heldBackFrom ?? autoCompactThreshold.value
}

function less(effectiveWindow: number, tokens: number): Figure {
  return { value: effectiveWindow - tokens, source: `the effective window less ${formatNumber(tokens)}` }
}

type Around = { readonly effectiveWindow: number; readonly standard: Figure; readonly blocking: number }

/** The requested threshold, limited to the window. A percentage in the environment can only make compaction earlier. */
function thresholdOf({ autoCompactAt: asked }: ResolvedSettings, around: Around): Figure {
  const { effectiveWindow, standard, blocking } = around
  if (!asked) return capped(standard, blocking)
  const from = tokensOfMark(asked.value, effectiveWindow)
  const max = asked.onlyLowers ? Math.min(standard.value, blocking) : blocking
  const min = Math.min(minUsable, max)
  const value = Math.max(min, Math.min(max, from))
  if (value === from) return { value, source: asked.source }
  const limit =
    value === min
      ? `with less than ${formatNumber(min)} every turn would compact`
      : `compaction comes no later than ${formatNumber(max)}`
  const why = `${asked.source} asks for ${formatNumber(from)}, but ${limit}`
  const figure = value === standard.value ? standard : { value, source: asked.source }
  return { ...figure, clamped: { from, why } }
}

/** A compaction at a size that no request may have would come too late. */
function capped(standard: Figure, blocking: number): Figure {
  if (standard.value <= blocking) return standard
  return {
    value: blocking,
    source: 'the blocking limit',
    clamped: { from: standard.value, why: 'no request is larger' },
  }
}

function before(limit: Figure, window: number, distance: Sourced<number> | undefined): Figure {
  const most = Math.floor(limit.value * maxDistanceShare)
  const tokens = distance?.value ?? Math.min(inProportion(gaugeDistance, window), most)
  const source = `${formatNumber(tokens)} before the limit${distance ? ` (${distance.source})` : ''}`
  const value = limit.value - tokens
  return value >= 0 ? { value, source } : { value: 0, source, clamped: { from: value, why: 'a size is never below 0' } }
}

function blockingFrom(asked: Sourced<number>, window: number): Figure {
  if (asked.value <= window) return { value: asked.value, source: asked.source }
  const why = `${asked.source} asks for more than the effective window of ${formatNumber(window)}`
  return { value: window, source: asked.source, clamped: { from: asked.value, why } }
}
