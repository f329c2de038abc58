// How many tokens a model accepts, and how many of them are reserved for a summary. Both name their source.
import { modelFacts } from '../catalog/models.ts'
import type { ResolvedSettings, Sourced } from '../settings/resolve.ts'
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
    from(facts.provider?.window, 'the provider') ??
    from(facts.learnedWindow, 'learned from an overflow error') ??
    from(known?.window, `built-in table (${known?.id})`) ?? {
      value: defaultWindow,
      source: guessedWindow,
    }
  const contextWindow = narrowed(full, settings.maxWindow)
  const { maxOutputTokens: asked } = settings
  if (asked && asked.value >= full.value) throw outputTooLarge(asked, full)
  const limit =
    from(facts.provider?.maxOutput, 'the provider') ?? from(known?.maxOutput, `built-in table (${known?.id})`)
  const maxOutputTokens: Figure = smaller(asked, limit) ?? {
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

function from(value: number | undefined, source: string): Sourced<number> | undefined {
  return value !== undefined && Number.isFinite(value) && value > 0 ? { value, source } : undefined
}

/** The host may ask for more than the model can write. */
function smaller(asked: Sourced<number> | undefined, limit: Sourced<number> | undefined): Figure | undefined {
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
