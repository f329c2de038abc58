// How large the window is, how full the context is, what happens at which size, and why. Nothing else computes these
// numbers.
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

export type ExplainInput = SettingsInput &
  WindowFacts &
  SizeOptions & {
    readonly size?: ContextSize | undefined
    readonly messages?: readonly ViewMessage[] | undefined
  }

type Thresholds = {
  readonly autoCompact: { readonly mode: boolean | 'ask'; readonly source: string }
  readonly manualCompact: { readonly allowed: boolean; readonly source: string }
  readonly autoCompactThreshold: Figure
  /** What the gauge counts down to: the threshold, or the effective window if auto-compact is off. */
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
  const thresholds = resolveThresholds(settings, windows.effectiveWindow.value)
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

/** What was asked for and cannot be, where a setting or a variable asked. */
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

const compactBuffer = 13_000
const gaugeDistance = 20_000
/** Share of the limit: in a small window the gauge would be red from the start. */
const maxDistanceShare = 0.25
const blockingBuffer = 3_000

function resolveThresholds(settings: ResolvedSettings, effectiveWindow: number): Thresholds {
  const { value: mode, source } = settings.compaction
  const autoCompact = { mode: mode === 'ask' ? mode : mode === 'auto' || mode === 'reactive', source }
  const blocking: Figure = settings.blockingLimit
    ? blockingFrom(settings.blockingLimit, effectiveWindow)
    : { value: effectiveWindow - blockingBuffer, source: `the effective window less ${formatNumber(blockingBuffer)}` }
  const autoCompactThreshold = thresholdOf(settings, effectiveWindow, blocking.value)
  const limit: Figure =
    autoCompact.mode === false
      ? { value: effectiveWindow, source: 'the effective window, because auto-compact is off' }
      : { value: autoCompactThreshold.value, source: 'the auto-compact threshold' }
  return {
    autoCompact,
    manualCompact: mode === 'off' ? { allowed: false, source } : { allowed: true, source: 'default' },
    autoCompactThreshold,
    limit,
    warning: before(limit, settings.warningDistance),
    error: before(limit, settings.errorDistance),
    blocking,
  }
}

/** What was asked for, as far as the window allows. A percentage of the environment can only make compaction earlier. */
function thresholdOf({ autoCompactAt: asked }: ResolvedSettings, window: number, blocking: number): Figure {
  const standard = defaultThreshold(window)
  if (!asked) return standard
  const from = tokensOfMark(asked.value, window)
  const min = Math.min(minUsable, standard.value)
  const max = asked.onlyLowers ? standard.value : Math.max(standard.value, blocking)
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

/** In a small window the buffer would leave too little: at least this much is left for the conversation. */
function defaultThreshold(window: number): Figure {
  const value = window - compactBuffer
  const least = Math.min(minUsable, Math.ceil(window / 2))
  if (value >= least) return { value, source: `the effective window less ${formatNumber(compactBuffer)}` }
  const why = `the effective window of ${formatNumber(window)} less ${formatNumber(compactBuffer)} would leave less than ${formatNumber(least)}`
  return { value: least, source: 'the least that a conversation needs', clamped: { from: value, why } }
}

function before(limit: Figure, distance: Sourced<number> | undefined): Figure {
  const tokens = distance?.value ?? Math.min(gaugeDistance, Math.floor(limit.value * maxDistanceShare))
  const source = `${formatNumber(tokens)} before the limit${distance ? ` (${distance.source})` : ''}`
  const value = limit.value - tokens
  return value >= 0 ? { value, source } : { value: 0, source, clamped: { from: value, why: 'a size is never below 0' } }
}

function blockingFrom(asked: Sourced<number>, window: number): Figure {
  if (asked.value <= window) return { value: asked.value, source: asked.source }
  const why = `${asked.source} asks for more than the effective window of ${formatNumber(window)}`
  return { value: window, source: asked.source, clamped: { from: asked.value, why } }
}

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
/** With less, every turn would compact. */
export const minUsable = 8_000
const defaultWindow = 128_000

export function resolveWindows(settings: ResolvedSettings, facts: WindowFacts = {}): Windows {
  const known = facts.model === undefined ? undefined : modelFacts(facts.model)
  const full: Figure = settings.contextWindow ??
    from(facts.provider?.window, 'the provider') ??
    from(facts.learnedWindow, 'learned from an overflow error') ??
    from(known?.window, `built-in table (${known?.id})`) ?? {
      value: defaultWindow,
      source: 'no information: a cautious default',
    }
  const output = settings.maxOutputTokens ?? from(facts.provider?.maxOutput, 'the provider')
  const maxOutputTokens: Figure = output ??
    from(known?.maxOutput, `built-in table (${known?.id})`) ?? {
      value: maxReserve,
      source: 'no information: as much as a summary may need',
    }
  if (output && output.value >= full.value) throw outputTooLarge(output, full)

  const contextWindow = narrowed(full, settings.maxWindow)
  const reserve: Figure = {
    value: Math.min(maxOutputTokens.value, maxReserve),
    source: `the smaller of the output limit and ${formatNumber(maxReserve)}`,
  }
  const effective = contextWindow.value - reserve.value
  if (effective < minUsable) throw tooSmall(contextWindow, reserve)
  return {
    contextWindow,
    maxOutputTokens,
    reserve,
    effectiveWindow: { value: effective, source: 'the window less the reserve for a summary' },
  }
}

function from(value: number | undefined, source: string): Sourced<number> | undefined {
  return value !== undefined && Number.isFinite(value) && value > 0 ? { value, source } : undefined
}

function narrowed(full: Figure, asked: Sourced<number> | undefined): Figure {
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
