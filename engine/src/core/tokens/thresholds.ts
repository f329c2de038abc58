// The sizes at which something happens: compaction, warning, error, blocking.
import { ConfigurationError, type Figure, formatNumber } from './figure.ts'
import { type ResolvedSettings, type Setting, tokensOfMark } from './settings.ts'
import { leastUsable } from './windows.ts'

export type AutoCompact = {
  readonly mode: boolean | 'ask'
  readonly source: string
}

export type Thresholds = {
  readonly autoCompact: AutoCompact
  readonly manualCompact: { readonly allowed: boolean; readonly source: string }
  readonly autoCompactThreshold: Figure
  /** What the gauge counts down to: the threshold, or the effective window if auto-compact is off. */
  readonly limit: Figure
  readonly warning: Figure
  readonly error: Figure
  readonly blocking: Figure
}

const compactBuffer = 13_000
const gaugeDistance = 20_000
/** Share of the limit: in a small window the gauge would be red from the start. */
const largestDistance = 0.25
const blockingBuffer = 3_000

export function resolveThresholds(settings: ResolvedSettings, effectiveWindow: number): Thresholds {
  const autoCompact = autoCompactOf(settings)
  const autoCompactThreshold = thresholdOf(settings, effectiveWindow)
  const limit: Figure =
    autoCompact.mode === false
      ? { value: effectiveWindow, source: 'the effective window, because auto-compact is off' }
      : { value: autoCompactThreshold.value, source: 'the auto-compact threshold' }
  return {
    autoCompact,
    manualCompact:
      settings.compaction.value === 'off'
        ? { allowed: false, source: settings.compaction.source }
        : { allowed: true, source: 'default' },
    autoCompactThreshold,
    limit,
    warning: before(limit, settings.warningDistance),
    error: before(limit, settings.errorDistance),
    blocking: settings.blockingLimit
      ? blockingFrom(settings.blockingLimit, effectiveWindow)
      : {
          value: effectiveWindow - blockingBuffer,
          source: `the effective window less ${formatNumber(blockingBuffer)}`,
        },
  }
}

function autoCompactOf({ compaction: { value, source } }: ResolvedSettings): AutoCompact {
  if (value === 'ask') return { mode: 'ask', source }
  return { mode: value === 'auto' || value === 'reactive', source }
}

/** The earliest of the default, the percentage and the mark: settings can only make compaction earlier. */
function thresholdOf(settings: ResolvedSettings, window: number): Figure {
  const standard = defaultThreshold(window)
  const { autoCompactPercent: percent, autoCompactAt: mark } = settings
  const asked: readonly Figure[] = [
    ...(percent ? [{ value: Math.floor((window * percent.value) / 100), source: percent.source }] : []),
    ...(mark ? [{ value: tokensOfMark(mark.value, window), source: mark.source }] : []),
  ]
  for (const figure of asked) if (figure.value < leastUsable) throw tooEarly(figure, window)
  const earliest = asked.reduce((first, figure) => (figure.value < first.value ? figure : first), standard)
  const tooLate = asked.find((figure) => figure.value > standard.value)
  if (earliest !== standard || !tooLate) return earliest
  const why = `${tooLate.source} asks for ${formatNumber(tooLate.value)}, but compaction comes no later than ${formatNumber(standard.value)}`
  return { ...standard, clamped: { from: tooLate.value, why } }
}

/** In a small window the buffer would leave too little: at least this much is left for the conversation. */
function defaultThreshold(window: number): Figure {
  const value = window - compactBuffer
  const least = Math.min(leastUsable, Math.ceil(window / 2))
  if (value >= least) return { value, source: `the effective window less ${formatNumber(compactBuffer)}` }
  const why = `the effective window of ${formatNumber(window)} less ${formatNumber(compactBuffer)} would leave less than ${formatNumber(least)}`
  return { value: least, source: 'the least that a conversation needs', clamped: { from: value, why } }
}

function before(limit: Figure, distance: Setting<number> | undefined): Figure {
  const tokens = distance?.value ?? Math.min(gaugeDistance, Math.floor(limit.value * largestDistance))
  const source = `${formatNumber(tokens)} before the limit${distance ? ` (${distance.source})` : ''}`
  const value = limit.value - tokens
  return value >= 0 ? { value, source } : { value: 0, source, clamped: { from: value, why: 'a size is never below 0' } }
}

function blockingFrom(asked: Setting<number>, window: number): Figure {
  if (asked.value <= window) return { value: asked.value, source: asked.source }
  const why = `the effective window is ${formatNumber(window)}`
  return { value: window, source: asked.source, clamped: { from: asked.value, why } }
}

function tooEarly(figure: Figure, window: number): ConfigurationError {
  return new ConfigurationError(
    `${figure.source} would compact at ${formatNumber(figure.value)} of ${formatNumber(window)} tokens; ` +
      `at least ${formatNumber(leastUsable)} must be usable, or every turn would compact.`,
    { threshold: figure.value, effectiveWindow: window, needed: leastUsable },
  )
}
