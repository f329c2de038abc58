// The setting `economy: 'thrifty'`: a compaction comes as soon as it pays, at the latest at the threshold. The table of
// settings has the other defaults of a thrifty session.

import { unseenResults } from '../mechanisms/clearable.ts'
import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts } from '../mechanisms/situation.ts'
import { isRequest } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'

/**
 * Whether a compaction pays now: carrying what it would drop has cost as much as it will. With steady growth that is the
 * cheapest rhythm, and whatever comes it costs at most twice as much as knowing the future would. In the middle of a turn
 * it would take away what is being worked with, and with a cold cache it costs more: then it waits for twice as much.
 */
export function paysToCompact(view: View, situation: Situation): boolean {
  const costs = compactionCosts(situation)
  if (!costs) return false
  const { cache, explanation } = situation
  const { tokens } = explanation.size
  const started = sizeBeforeTurn(view)
  // What the turn that has ended has read is cleared without a compaction.
  const spent = costs.rent * carriedAbove(view, { above: costs.after, now: started ?? tokens })
  const isGoodMoment = started !== undefined && cache.type === 'warm'
  return spent >= (costs.fixed + costs.perToken * tokens) * (isGoodMoment ? 1 : 2)
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

/** Between two turns: the size that the context had when the one that has ended began. */
function sizeBeforeTurn({ messages }: View): number | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  if (messages.findLastIndex(({ origin }) => isRequest(origin)) < last) return undefined
  const asked = messages.findLastIndex(({ origin }, at) => at < last && isRequest(origin))
  const first = messages.find(({ usage }, at) => at > asked && usage !== undefined)
  return first?.usage && contextTokens(first.usage)
}

/** For a whole summary, and for what code adds to it. With less, each compaction would forget what the one before knew. */
const roomToTell = 8_000

/** What a compaction before the threshold must get below: a share of the size now, but with room for all it has to tell. */
export function earlyTarget(view: View, situation: Situation, overhead: number): number {
  const { weigher, explanation, target } = situation
  const unseen = unseenResults(view)
  const weight = unseen === undefined ? 0 : weigher.from(view.messages, unseen - 1)
  const share = target / explanation.autoCompactThreshold.value
  const least = withMargin(overhead + weight + roomToTell)
  return Math.min(target, Math.max(least, Math.floor(explanation.size.tokens * share)))
}
