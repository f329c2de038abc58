// Whether an automatic compaction may run now, and asking a person about it.
import type { AbortSignalPort, QuerySource } from '../ports/model.ts'
import type { Declined } from '../ports/outcome.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import { breakerText } from './breaker.ts'
import type { Runtime } from './runtime.ts'

export type NotNow = Declined<
  | 'query-source' // the request of a compaction would wait for itself
  | 'not-due' // below the threshold, or turned off
  | 'reactive-only'
  | 'collapse-on'
  | 'breaker-open'
  | 'overhead' // system prompt and tools alone are over the threshold
  | 'refused' // ask mode: no, or no answer
>

export type Occasion = {
  readonly source: QuerySource
  /** It pays to compact before the threshold is reached. */
  readonly pays: boolean
}

/** Undefined when it may run. Asking a person is up to the caller. */
export function whyNotCompact(
  { gauge, settings, tracker }: Runtime,
  explanation: Explanation,
  { source, pays }: Occasion,
): NotNow | undefined {
  const { autoCompact, autoCompactThreshold: threshold, isAboveThreshold } = explanation
  const { breaker, isRefused } = tracker.now()
  const no = (reason: NotNow['reason'], why: string): NotNow => ({ type: 'declined', reason, why })
  if (source !== 'turn') return no('query-source', `A request of ${source} never compacts.`)
  if (autoCompact.mode === false || (!isAboveThreshold && !pays)) return no('not-due', '')
  if (settings.collapse) return no('collapse-on', 'Collapsing keeps the context small.')
  if (settings.compaction === 'reactive') return no('reactive-only', 'Compaction waits until the provider refuses.')
  const overhead = isAboveThreshold ? gauge.overhead() : 0
  if (overhead >= threshold.value) return no('overhead', overheadText(overhead, threshold.value))
  if (breaker.isOpen) return no('breaker-open', breakerText)
  if (autoCompact.mode === 'ask' && isRefused) return no('refused', notAllowed)
  return undefined
}

export const notAllowed = 'It was asked for, and not allowed.'

function overheadText(overhead: number, threshold: number): string {
  return (
    `The system prompt, tools and memory files alone take ${formatNumber(overhead)} tokens, and the threshold is ` +
    `${formatNumber(threshold)}: compacting the conversation cannot help. Use fewer tools or a larger window.`
  )
}

/** Asks the host; no answer in time means no. A no holds until the next human message. */
export async function isAllowed(
  { ask, guard, settings, tracker }: Runtime,
  { size, autoCompactThreshold }: Explanation,
  signal: AbortSignalPort | undefined,
): Promise<boolean> {
  const question = { tokens: size.tokens, threshold: autoCompactThreshold.value }
  const isValid = (value: unknown) => value === undefined || typeof value === 'boolean'
  const options = { isValid, timeoutMs: settings.askTimeoutMs, signal }
  const isYes = ask !== undefined && (await guard.read('ask', () => ask(question), options)) === true
  if (!isYes) tracker.set({ isRefused: true })
  return isYes
}
