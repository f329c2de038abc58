// How a conversation has gone so far: how fast it grows, how small it once was, how often its cache was cold.
import { cacheLifetimes } from '../cache/economics.ts'
import { contextTokens } from '../message/usage.ts'
import type { View } from '../transcript/view/fold.ts'

/** A stack of sizes, each with the number of answers since which the context was never smaller. */
export type Carried = { readonly size: number; readonly answers: number; readonly below: Carried | undefined }

/** Tokens times requests above a size, counting only what a context of `now` tokens still holds. */
export function carriedAbove(
  carried: Carried | undefined,
  { above, now }: { readonly above: number; readonly now: number },
): number {
  let sum = 0
  for (let level = carried; level && level.size > above; level = level.below) {
    sum += level.answers * Math.max(0, Math.min(level.size, now) - above)
  }
  return sum
}

/** The share of cold requests in real sessions. It counts as much as a session of `usualLength` answers. */
const usualColdShare = { short: 0.03, long: 0.007 } as const
const usualLength = 50

/** Growth is a mean: a median would miss the few large results that make up most of it. */
export function paceOf({ messages }: View, lifetime: number) {
  const grown = { tokens: 0, steps: 0 }
  const timed = { answers: 0, cold: 0 }
  let carried: Carried | undefined
  let size: number | undefined
  let base: number | undefined
  let last: number | undefined
  for (const { role, usage, time } of messages) {
    if (usage) {
      const before = size
      size = contextTokens(usage)
      base = Math.min(base ?? size, size)
      carried = withLevel(carried, size)
      // A smaller context is the work of a reduction, not growth.
      if (before !== undefined && size >= before) {
        grown.tokens += size - before
        grown.steps++
      }
    }
    if (role !== 'assistant' || time === undefined) continue
    if (last !== undefined && time - last >= lifetime) timed.cold++
    timed.answers++
    last = time
  }
  const usual = lifetime > cacheLifetimes.short ? usualColdShare.long : usualColdShare.short
  const growth = grown.tokens / grown.steps
  return {
    growth: growth > 0 ? growth : undefined,
    base,
    carried,
    coldShare: (timed.cold + usual * usualLength) / (timed.answers + usualLength),
  }
}

/** What a smaller context no longer holds was cleared, so no compaction would have had to drop it. */
function withLevel(carried: Carried | undefined, size: number): Carried {
  let answers = 1
  let below = carried
  for (; below && below.size >= size; below = below.below) answers += below.answers
  return { size, answers, below }
}
