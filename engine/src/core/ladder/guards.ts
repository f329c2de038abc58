// Whether automatic compaction may run, and if not, why. Asking a person is up to the caller.
import type { QuerySource } from '../ports/model.ts'
import type { Tracking } from '../session/tracking.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'

/** reactive-only: only after the provider refused a request. collapse: another mechanism keeps the context small. */
export type CompactionMode = 'proactive' | 'reactive-only' | 'collapse'

export type GuardReason =
  | 'query-source' // the request of a compaction would wait for itself
  | 'below-threshold'
  | 'auto-compact-off'
  | 'reactive-only'
  | 'collapse-on'
  | 'breaker-open'
  | 'overhead' // system prompt and tools alone are over the threshold
  | 'refused' // ask mode: no, or no answer

export type Guarded =
  | { readonly type: 'allowed'; readonly asks: boolean }
  | { readonly type: 'refused'; readonly why: GuardReason; readonly detail: string }

export type GuardInput = {
  readonly source: QuerySource
  readonly explanation: Explanation
  readonly mode: CompactionMode
  readonly tracking: Tracking
  /** Tokens of system prompt, tools and memory files. */
  readonly overhead: number
  /** Below the threshold a compaction may come because it pays. */
  readonly pays?: boolean
}

export function guardAutoCompact({ source, explanation, mode, tracking, overhead, pays }: GuardInput): Guarded {
  const { autoCompact, autoCompactThreshold: threshold, size, isAboveThreshold } = explanation
  const refuse = (why: GuardReason, detail: string): Guarded => ({ type: 'refused', why, detail })
  if (source !== 'turn') return refuse('query-source', `A request of ${source} never compacts.`)
  if (autoCompact.mode === false) return refuse('auto-compact-off', `Auto-compact is off: ${autoCompact.source}.`)
  if (!isAboveThreshold && pays !== true) {
    return refuse('below-threshold', `${formatNumber(size.tokens)} tokens are below ${formatNumber(threshold.value)}.`)
  }
  if (mode === 'reactive-only') return refuse('reactive-only', 'Compaction waits until the provider refuses.')
  if (mode === 'collapse') return refuse('collapse-on', 'Collapsing keeps the context small.')
  if (overhead >= threshold.value) return refuse('overhead', overheadText(overhead, threshold.value))
  if (tracking.breaker.isOpen) return refuse('breaker-open', breakerText)
  if (autoCompact.mode === 'ask' && tracking.isRefused) return refuse('refused', 'It was asked for, and not allowed.')
  return { type: 'allowed', asks: autoCompact.mode === 'ask' }
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
