// Whether an automatic compaction may run now, asking a person about it, and whether one pays before the threshold.

import { unseenResults } from '../mechanisms/clearable.ts'
import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts } from '../mechanisms/situation.ts'
import { isRequest } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import type { AbortSignalPort, QuerySource } from '../ports/model.ts'
import type { Declined } from '../ports/outcome.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Runtime } from './runtime.ts'
import { breakerText } from './tracking.ts'

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
  const options = { isValid, otherwise: false, timeoutMs: settings.askTimeoutMs, signal }
  const isYes = ask !== undefined && (await guard.read('ask', () => ask(question), options)) === true
  if (!isYes) tracker.set({ isRefused: true })
  return isYes
}

/** What is forgotten counts as much as what is paid; a thrifty session only counts what is paid. */
const patience = { default: 2, thrifty: 1 } as const

/**
 * Whether a compaction pays now: carrying what it would drop has cost as much as it will. With steady growth that is the
 * cheapest rhythm, and whatever comes it costs at most twice as much as knowing the future would. In the middle of a turn
 * it would take away what is being worked with, and with a cold cache it costs more: then it waits for twice as much.
 */
export function paysToCompact(view: View, situation: Situation, economy: keyof typeof patience): boolean {
  const costs = compactionCosts(situation)
  if (!costs) return false
  const { cache, explanation } = situation
  const { tokens } = explanation.size
  const started = sizeBeforeTurn(view)
  // Results that the last turn read are cleared without a compaction.
  const spent = costs.rent * carriedAbove(view, { above: costs.after, now: started ?? tokens })
  const isGoodMoment = started !== undefined && cache.type === 'warm'
  return spent >= (costs.fixed + costs.perToken * tokens) * patience[economy] * (isGoodMoment ? 1 : 2)
}

/** Tokens times requests above a size, counting only what a context of `now` tokens still holds. */
function carriedAbove({ messages }: View, { above, now }: { readonly above: number; readonly now: number }): number {
  let left = now
  let sum = 0
  for (const { usage } of messages.toReversed()) {
    if (!usage) continue
    // What a smaller context no longer held was cleared, so no compaction would have had to drop it.
    left = Math.min(left, contextTokens(usage))
    sum += Math.max(0, left - above)
  }
  return sum
}

/** Between two turns: the size of the context when the last turn began. */
function sizeBeforeTurn({ messages }: View): number | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  if (messages.findLastIndex(({ origin }) => isRequest(origin)) < last) return undefined
  const asked = messages.findLastIndex(({ origin }, at) => at < last && isRequest(origin))
  const first = messages.find(({ usage }, at) => at > asked && usage !== undefined)
  return first?.usage && contextTokens(first.usage)
}

/** Tokens for a whole summary and what code adds to it. With less, each compaction would forget what the one before it knew. */
const handoverRoom = 8_000

/** The size that a compaction before the threshold must get below: a share of the present size, with room for a summary. */
export function earlyTarget(view: View, situation: Situation, overhead: number): number {
  const { weigher, explanation, target } = situation
  const unseen = unseenResults(view)
  const weight = unseen === undefined ? 0 : weigher.from(view.messages, unseen - 1)
  const share = target / explanation.autoCompactThreshold.value
  const minTarget = withMargin(overhead + weight + handoverRoom)
  return Math.min(target, Math.max(minTarget, Math.floor(explanation.size.tokens * share)))
}
