// The setting `economy: 'thrifty'`: the other settings as they cost the least, and a compaction at the size at which the
// whole session is the cheapest. What the host has set itself stays as it is.

import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts } from '../mechanisms/situation.ts'
import { type EngineSettings, targetShare } from '../session/settings.ts'
import { withMargin } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'

/** Tokens of tool results that may stay when clearing pays, and how many of the newest of a turn do. */
const thriftyTarget = 10_000
const thriftyKeep = 8
const afterPause = 3
/** From so many results on it is asked whether clearing pays. */
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

/** Fewer answers say too little about how fast a conversation grows. */
const fewestAnswers = 8
/** A threshold that wanders a little with every answer helps nobody. */
const worthMoving = 0.1
/** Tokens for what a compaction has to tell. Without them each would leave less than the one before, and come sooner. */
const roomToTell = 8_000

export type CheapestOptions = {
  readonly settings: EngineSettings
  /** System prompt and tools, in tokens: what no compaction makes smaller. */
  readonly overhead: number
  readonly before: number | undefined
}

/**
 * Where a compaction is the cheapest, from what the conversation shows of itself; `before` where it shows too little yet.
 * It is due when carrying what it would drop has cost as much as it will: with steady growth that is the cheapest rhythm,
 * and what was cleared meanwhile puts it off, since it was not carried. It leaves room for the compaction to succeed in.
 */
export function cheapestSize(
  view: View,
  situation: Situation,
  { settings, overhead, before }: CheapestOptions,
): number | undefined {
  const answers = view.messages.filter(({ usage }) => usage !== undefined).length
  const costs = answers < fewestAnswers ? undefined : compactionCosts(situation)
  if (!costs) return before
  const { after, fixed, perToken, growth, rent } = costs
  const { carried, explanation } = situation
  const above = Math.max(0, explanation.size.tokens - after)
  const still = (fixed + perToken * after) / rent - Math.max(0, carried.tokens - carried.answers * after)
  const due = after + Math.sqrt(above ** 2 + 2 * growth * Math.max(0, still))
  const least = withMargin(Math.max(after, overhead + roomToTell)) / targetShare(settings)
  const size = Math.round(Math.max(due, least))
  return before !== undefined && Math.abs(size / before - 1) < worthMoving ? before : size
}
