// The setting `economy: 'thrifty'`: old tool results are cleared between turns, and a compaction comes as soon as it pays,
// at the latest at the usual threshold. What the host has set itself stays as it is.

import { unseenResults } from '../mechanisms/clearable.ts'
import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts } from '../mechanisms/situation.ts'
import { isRequest } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'
import type { EngineSettings } from './settings.ts'

/** Tokens of tool results that may stay when clearing pays, and how many of the newest of a turn do. */
const thriftyTarget = 10_000
const thriftyKeep = 8
const afterPause = 3
/** The number of results from which on clearing is weighed. */
const thriftyTrigger = 6

/**
 * Clears as soon as it pays and above all between turns, when nothing stands behind the results that would be written again;
 * takes the cache for cold when it is, and takes no notes, which are requests of their own.
 */
export function withEconomy(settings: EngineSettings): EngineSettings {
  if (settings.economy !== 'thrifty') return settings
  const { reductions = {}, cacheMarks = '5m' } = settings
  return {
    sessionMemory: false,
    ...settings,
    reductions: {
      microCompact: 'always',
      keepFinished: false,
      clearInputs: true,
      ...reductions,
      bySize: { target: thriftyTarget, ...reductions.bySize },
      byCacheEdit: { trigger: thriftyTrigger, keep: thriftyKeep, ...reductions.byCacheEdit },
      byIdle: { keep: afterPause, ...(cacheMarks === '5m' ? { minutes: 5 } : {}), ...reductions.byIdle },
    },
  }
}

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
