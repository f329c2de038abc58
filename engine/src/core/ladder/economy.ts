// The setting `economy: 'thrifty'`: the other settings as they cost the least, and a compaction at the size at which the
// whole session is the cheapest. What the host has set itself stays as it is.

import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts } from '../mechanisms/situation.ts'
import type { View } from '../transcript/fold.ts'
import { type EngineSettings, targetShare } from './settings.ts'

/** Tokens of tool results that may stay when clearing pays, and how many of the newest do. */
const thriftyTarget = 10_000
const thriftyKeep = 3

/** Clears as soon as it pays, takes the cache for cold when it is, and takes no notes, which are requests of their own. */
export function withEconomy(settings: EngineSettings): EngineSettings {
  if (settings.economy !== 'thrifty') return settings
  const { reductions = {}, cacheMarks = '5m' } = settings
  return {
    sessionMemory: false,
    ...settings,
    reductions: {
      microCompact: 'always',
      ...reductions,
      bySize: { target: thriftyTarget, ...reductions.bySize },
      byCacheEdit: { keep: thriftyKeep, ...reductions.byCacheEdit },
      byIdle: { ...(cacheMarks === '5m' ? { minutes: 5 } : {}), ...reductions.byIdle },
    },
  }
}

/** Fewer answers say too little about how fast a conversation grows. */
const fewestAnswers = 8
/** A threshold that wanders a little with every answer helps nobody. */
const worthMoving = 0.1

/**
 * Where a compaction is the cheapest, from what the conversation shows of itself; `before` where it shows too little yet.
 * Carrying costs more the later it comes, and compacting costs more the more often it does: with steady growth the sum
 * of both is the least where the two are alike. It leaves room for the compaction to succeed in.
 */
export function cheapestSize(
  view: View,
  situation: Situation,
  { settings, before }: { readonly settings: EngineSettings; readonly before: number | undefined },
): number | undefined {
  const answers = view.messages.filter(({ usage }) => usage !== undefined).length
  const costs = answers < fewestAnswers ? undefined : compactionCosts(situation)
  if (!costs) return before
  const { after, fixed, perToken, growth, rent } = costs
  const even = after + Math.sqrt((2 * growth * (fixed + perToken * after)) / rent)
  const size = Math.round(Math.max(even, (after * 4) / 3 / targetShare(settings)))
  return before !== undefined && Math.abs(size / before - 1) < worthMoving ? before : size
}
