// The size of the window, its source, and how much of it a conversation may fill.
import { modelFacts } from '../catalog/models.ts'
import { ConfigurationError, type Figure, formatNumber } from './figure.ts'
import type { ResolvedSettings, Setting } from './settings.ts'

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
const largestReserve = 20_000
/** With less, every turn would compact. */
export const leastUsable = 8_000
const cautiousWindow = 128_000

export function resolveWindows(settings: ResolvedSettings, facts: WindowFacts = {}): Windows {
  const known = facts.model === undefined ? undefined : modelFacts(facts.model)
  const full: Figure = settings.contextWindow ??
    from(facts.provider?.window, 'the provider') ??
    from(facts.learnedWindow, 'learned from an overflow error') ??
    from(known?.window, `built-in table (${known?.id})`) ?? {
      value: cautiousWindow,
      source: 'no information: a cautious default',
    }
  const output = settings.maxOutputTokens ?? from(facts.provider?.maxOutput, 'the provider')
  const maxOutputTokens: Figure = output ??
    from(known?.maxOutput, `built-in table (${known?.id})`) ?? {
      value: largestReserve,
      source: 'no information: as much as a summary may need',
    }
  if (output && output.value >= full.value) throw outputTooLarge(output, full)

  const contextWindow = narrowed(full, settings.autoCompactWindow)
  const reserve: Figure = {
    value: Math.min(maxOutputTokens.value, largestReserve),
    source: `the smaller of the output limit and ${formatNumber(largestReserve)}`,
  }
  const effective = contextWindow.value - reserve.value
  if (effective < leastUsable) throw tooSmall(contextWindow, reserve)
  return {
    contextWindow,
    maxOutputTokens,
    reserve,
    effectiveWindow: { value: effective, source: 'the window less the reserve for a summary' },
  }
}

function from(value: number | undefined, source: string): Setting<number> | undefined {
  return value !== undefined && Number.isFinite(value) && value > 0 ? { value, source } : undefined
}

function narrowed(full: Figure, asked: Setting<number> | undefined): Figure {
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
      `leaves ${usable < 0 ? 'nothing' : `${formatNumber(usable)} usable tokens`}; at least ${formatNumber(leastUsable)} are needed.`,
    { contextWindow: window.value, reserve: reserve.value, usable, needed: leastUsable },
  )
}
