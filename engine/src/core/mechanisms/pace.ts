// How a conversation has gone so far: how fast it grows, how small it once was, how often its cache had gone cold. Only
// what is new is read from one view of a conversation to the next.
import { cacheLifetimes } from '../cache/state.ts'
import type { ViewMessage } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import type { View } from '../transcript/view/fold.ts'
import { createFollower } from './follow.ts'
import type { Weigher } from './weigher.ts'

export type Pace = {
  /** Tokens with each answer, the mean: few large results make most of it, and a median would not see them. */
  readonly growth: number | undefined
  /** The smallest context that was reported: what no reduction gets below. */
  readonly base: number | undefined
  /** What stood in the context through how many requests, and stands there still. */
  readonly carried: Carried | undefined
  /** The share of requests that come after the cache has gone. */
  readonly coldShare: number
}

/** So many answers had at least this size before them, and all since them had; below it those that had less. */
export type Carried = { readonly size: number; readonly answers: number; readonly below: Carried | undefined }

/** Tokens times requests: what has been carried above a size, as far as it is still there in a context of `now` tokens. */
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

type Tally = {
  readonly carried: Carried | undefined
  readonly steps: number
  readonly grown: number
  readonly size: number | undefined
  readonly base: number | undefined
  readonly answers: number
  readonly cold: number
  readonly time: number | undefined
}

const nothing: Tally = {
  carried: undefined,
  steps: 0,
  grown: 0,
  size: undefined,
  base: undefined,
  answers: 0,
  cold: 0,
  time: undefined,
}

/** In real sessions so many requests come after a pause longer than this; they count like a session of this length. */
const usualColdShare = { short: 0.03, long: 0.007 } as const
const usualLength = 50

export function paceOf({ messages }: View, weigher: Weigher, lifetime: number): Pace {
  const { steps, grown, base, carried, answers, cold } = weigher.once(readers, weigher)(lifetime)(messages)
  const usual = lifetime > cacheLifetimes.short ? usualColdShare.long : usualColdShare.short
  const growth = grown / steps
  return {
    growth: growth > 0 ? growth : undefined,
    base,
    carried,
    coldShare: (cold + usual * usualLength) / (answers + usualLength),
  }
}

type Reader = (messages: readonly ViewMessage[]) => Tally

/** One for each lifetime: a conversation has one, as a rule. */
function readers(): (lifetime: number) => Reader {
  const known = new Map<number, Reader>()
  return (lifetime) => {
    const reader = known.get(lifetime) ?? createReader(lifetime)
    known.set(lifetime, reader)
    return reader
  }
}

function createReader(lifetime: number): Reader {
  const tallies = [nothing]
  const takeBack = () => {
    tallies.pop()
  }
  const follow = createFollower((message: ViewMessage) => {
    const before = tallies.at(-1) ?? nothing
    const after = timed(sized(before, message), message, lifetime)
    if (after === before) return undefined
    tallies.push(after)
    return takeBack
  })
  return (messages) => {
    follow(messages)
    return tallies.at(-1) ?? nothing
  }
}

function sized(before: Tally, { usage }: ViewMessage): Tally {
  if (!usage) return before
  const size = contextTokens(usage)
  const base = Math.min(before.base ?? size, size)
  const carried = withLevel(before.carried, size)
  // What shrank the context was a reduction, not growth.
  if (before.size === undefined || size < before.size) return { ...before, size, base, carried }
  return { ...before, size, base, carried, steps: before.steps + 1, grown: before.grown + size - before.size }
}

/** What a smaller context no longer holds was cleared: no compaction would have had to drop it. */
function withLevel(carried: Carried | undefined, size: number): Carried {
  let answers = 1
  let below = carried
  for (; below && below.size >= size; below = below.below) answers += below.answers
  return { size, answers, below }
}

function timed(before: Tally, { role, time }: ViewMessage, lifetime: number): Tally {
  if (role !== 'assistant' || time === undefined) return before
  const isCold = before.time !== undefined && time - before.time >= lifetime
  return { ...before, time, answers: before.answers + 1, cold: before.cold + (isCold ? 1 : 0) }
}
