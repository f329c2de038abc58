// How a conversation has gone so far: how fast it grows, how small it once was, how often its cache had gone cold.
import { cacheLifetimes } from '../cache/state.ts'
import { contextTokens } from '../message/usage.ts'
import type { View } from '../transcript/view/fold.ts'

export type Pace = {
  /** Tokens with each answer, on average: a median would miss the few large results that make up most of it. */
  readonly growth: number | undefined
  /** The smallest context that was reported: what no reduction gets below. */
  readonly base: number | undefined
  /** The sum of what all answers reported: tokens carried through requests. */
  readonly carried: Carried
  /** The share of requests that come after the cache has gone. */
  readonly coldShare: number
}

export type Carried = { readonly tokens: number; readonly answers: number }

/** The share of requests in real sessions that come after such a pause; it counts like a session of `usualLength`. */
const usualColdShare = { short: 0.03, long: 0.007 } as const
const usualLength = 50

export function paceOf({ messages }: View, lifetime: number): Pace {
  const carried = { tokens: 0, answers: 0 }
  const grown = { tokens: 0, steps: 0 }
  const timed = { answers: 0, cold: 0 }
  let size: number | undefined
  let base: number | undefined
  let last: number | undefined
  for (const { role, usage, time } of messages) {
    if (usage) {
      const before = size
      size = contextTokens(usage)
      base = Math.min(base ?? size, size)
      carried.tokens += size
      carried.answers++
      // What shrank the context was a reduction, not growth.
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
