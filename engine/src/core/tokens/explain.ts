// The window of a model, the part of it that is reserved for a summary, how full the context is, and what happens at which size.
// Each number comes with its source. Nothing else computes these numbers.

import { modelFacts } from '../catalog/models.ts'
import type { ViewMessage } from '../message/message.ts'
import {
  type ResolvedSettings,
  resolveSettings,
  type SettingsInput,
  type Sourced,
  tokensOfMark,
} from '../settings/resolve.ts'
import { type ContextSize, contextSize, modelOf, type SizeOptions } from './context-size.ts'
import { ConfigurationError, type Figure, formatNumber } from './figure.ts'

export type WindowFacts = {
  readonly model?: string | undefined
  readonly provider?: { readonly window?: number | undefined; readonly maxOutput?: number | undefined } | undefined
  readonly learnedWindow?: number | undefined
}

export type Windows = {
  readonly contextWindow: Figure
  readonly maxOutputTokens: Figure
  readonly reserve: Figure
  readonly effectiveWindow: Figure
}

/** The 99.99th percentile of summaries is about 17,400 tokens. */
const maxReserve = 20_000
/** Share of the window. Summaries are shorter in a small window (`handoverIn` of the compaction). */
const maxReserveShare = 0.15
/** Below this, every turn would compact. */
export const minUsable = 3_000
const defaultWindow = 128_000
/** Source of the window if it is not known. */
export const guessedWindow = 'no information: a cautious default'

/** The distances between thresholds were chosen for this window. */
const fullWindow = 200_000

/** Scales a number of tokens that was chosen for a window of 200,000 to this window. */
export function inProportion(tokens: number, window: number): number {
  return Math.floor(tokens * Math.min(1, window / fullWindow))
}

export function resolveWindows(settings: ResolvedSettings, facts: WindowFacts = {}): Windows {
  const known = facts.model === undefined ? undefined : modelFacts(facts.model)
  const full: Figure = settings.contextWindow ??
    sourced(facts.provider?.window, 'the provider') ??
    sourced(facts.learnedWindow, 'learned from an overflow error') ??
    sourced(known?.window, `built-in table (${known?.id})`) ?? {
      value: defaultWindow,
      source: guessedWindow,
    }
  const contextWindow = narrowedWindow(full, settings.maxWindow)
  const { maxOutputTokens: asked } = settings
  if (asked && asked.value >= full.value) throw outputTooLarge(asked, full)
  const limit =
    sourced(facts.provider?.maxOutput, 'the provider') ?? sourced(known?.maxOutput, `built-in table (${known?.id})`)
  const maxOutputTokens: Figure = smallerOf(asked, limit) ?? {
    value: maxReserve,
    source: 'no information: as much as a summary may need',
  }
  const reserve = reserveIn(contextWindow.value, maxOutputTokens.value)
  const effective = contextWindow.value - reserve.value
  if (effective < minUsable) throw tooSmall(contextWindow, reserve)
  return {
    contextWindow,
    maxOutputTokens,
    reserve,
    effectiveWindow: { value: effective, source: 'the window less the reserve for a summary' },
  }
}

function sourced(value: number | undefined, source: string): Sourced<number> | undefined {
  return value !== undefined && Number.isFinite(value) && value > 0 ? { value, source } : undefined
}

/** The host may ask for more than the model can write. */
function smallerOf(asked: Sourced<number> | undefined, limit: Sourced<number> | undefined): Figure | undefined {
  if (!asked || !limit || asked.value <= limit.value) return asked ?? limit
  const why = `${asked.source} asks for more than the model can write`
  return { ...limit, clamped: { from: asked.value, why } }
}

function reserveIn(window: number, maxOutput: number): Figure {
  const share = Math.floor(window * maxReserveShare)
  const value = Math.min(maxOutput, maxReserve, share)
  const source =
    value === share && share < Math.min(maxOutput, maxReserve)
      ? `${maxReserveShare * 100} % of the window`
      : `the smaller of the output limit and ${formatNumber(maxReserve)}`
  return { value, source }
}

function narrowedWindow(full: Figure, asked: Sourced<number> | undefined): Figure {
  if (!asked) return full
  if (asked.value <= full.value) return asked
  const why = `${asked.source} can only make the window smaller`
  return { ...full, clamped: { from: asked.value, why } }
}

function outputTooLarge(output: Figure, window: Figure): ConfigurationError {
  return new ConfigurationError(
    `The output limit of ${formatNumber(output.value)} tokens (${output.source}) does not fit into a context window of ` +
      `${formatNumber(window.value)} tokens (${window.source}).`,
    { maxOutputTokens: output.value, contextWindow: window.value },
  )
}

function tooSmall(window: Figure, reserve: Figure): ConfigurationError {
  const usable = window.value - reserve.value
  return new ConfigurationError(
    `A context window of ${formatNumber(window.value)} tokens (${window.source}) less ${formatNumber(reserve.value)} for a summary ` +
      `leaves ${usable < 0 ? 'nothing' : `${formatNumber(usable)} usable tokens`}; at least ${formatNumber(minUsable)} are needed.`,
    { contextWindow: window.value, reserve: reserve.value, usable, needed: minUsable },
  )
}

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
    warning: thresholdBefore(limit, window, settings.warningDistance),
    error: thresholdBefore(limit, window, settings.errorDistance),
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

type ThresholdInput = { readonly effectiveWindow: number; readonly standard: Figure; readonly blocking: number }

/** The requested threshold, limited to the window. A percentage in the environment can only make compaction earlier. */
function thresholdOf({ autoCompactAt: asked }: ResolvedSettings, around: ThresholdInput): Figure {
  const { effectiveWindow, standard, blocking } = around
  if (!asked) return cappedAtBlocking(standard, blocking)
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
function cappedAtBlocking(standard: Figure, blocking: number): Figure {
  if (standard.value <= blocking) return standard
  return {
    value: blocking,
    source: 'the blocking limit',
    clamped: { from: standard.value, why: 'no request is larger' },
  }
}

function thresholdBefore(limit: Figure, window: number, distance: Sourced<number> | undefined): Figure {
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
