// Whether automatic compaction may run, and if not, why. Asking a person is up to the caller.
import type { QuerySource } from '../ports/model.ts'
import type { Runtime } from '../session/runtime.ts'
import { compactionMode } from '../session/settings.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'

export type Refusal = {
  readonly why:
    | 'query-source' // the request of a compaction would wait for itself
    | 'below-threshold'
    | 'auto-compact-off'
    | 'reactive-only'
    | 'collapse-on'
    | 'breaker-open'
    | 'overhead' // system prompt and tools alone are over the threshold
    | 'refused' // ask mode: no, or no answer
  readonly detail: string
}

export type GuardOptions = {
  readonly source: QuerySource
  /** It pays to compact before the threshold is reached. */
  readonly pays: boolean
}

/** Undefined when it may run. */
export function refusalOf(
  { gauge, settings, tracker }: Runtime,
  explanation: Explanation,
  { source, pays }: GuardOptions,
): Refusal | undefined {
  const { autoCompact, autoCompactThreshold: threshold, size, isAboveThreshold } = explanation
  const { breaker, isRefused } = tracker.now()
  const mode = compactionMode(settings)
  const refuse = (why: Refusal['why'], detail: string): Refusal => ({ why, detail })
  if (source !== 'turn') return refuse('query-source', `A request of ${source} never compacts.`)
  if (autoCompact.mode === false) return refuse('auto-compact-off', `Auto-compact is off: ${autoCompact.source}.`)
  if (!isAboveThreshold && !pays) {
    return refuse('below-threshold', `${formatNumber(size.tokens)} tokens are below ${formatNumber(threshold.value)}.`)
  }
  if (mode === 'reactive-only') return refuse('reactive-only', 'Compaction waits until the provider refuses.')
  if (mode === 'collapse') return refuse('collapse-on', 'Collapsing keeps the context small.')
  const overhead = isAboveThreshold ? gauge.overhead() : 0
  if (overhead >= threshold.value) return refuse('overhead', overheadText(overhead, threshold.value))
  if (breaker.isOpen) return refuse('breaker-open', breakerText)
  if (autoCompact.mode === 'ask' && isRefused) return refuse('refused', 'It was asked for, and not allowed.')
  return undefined
}

function overheadText(overhead: number, threshold: number): string {
  return (
    `The system prompt, tools and memory files alone take ${formatNumber(overhead)} tokens, and the threshold is ` +
    `${formatNumber(threshold)}: compacting the conversation cannot help. Use fewer tools or a larger window.`
  )
}

export const breakerText =
  'Automatic compaction has stopped for this conversation: several in a row failed, or left the context nearly full. ' +
  'Compact by hand, remove something large, or change the model; then go on.'
