// How fast a conversation grows, and how often its cache has expired between two answers. A conversation is read before
// each request, so what was read the last time is not read again.
import { cacheLifetimes } from '../cache/economics.ts'
import type { ViewMessage } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import type { View } from '../transcript/view/fold.ts'

export type PaceReader = (view: Pick<View, 'messages'>, lifetime: number) => ReturnType<typeof paceFrom>

/** Keep one per conversation. Views that do not begin like the one before them are read from the start. */
export function createPaceReader(): PaceReader {
  let known: readonly ViewMessage[] = []
  /** Of all but the newest known messages, which the next view may replace. */
  let before = noSums
  return ({ messages }, lifetime) => {
    const isContinued = before.read > 0 && startsAlike(messages, known, before.read)
    const settled = sumsOf(messages, isContinued ? before : noSums, messages.length - mutable)
    known = messages
    before = settled
    return paceFrom(sumsOf(messages, settled, messages.length), lifetime)
  }
}

/** Messages at the end of a view that new entries may still join: an answer and its results. */
const mutable = 2

function startsAlike(one: readonly ViewMessage[], other: readonly ViewMessage[], count: number): boolean {
  for (let at = 0; at < count; at++) if (one[at] !== other[at]) return false
  return true
}

type Sums = {
  readonly read: number
  readonly grown: number
  readonly steps: number
  readonly answers: number
  readonly short: number
  readonly long: number
  readonly size: number | undefined
  readonly base: number | undefined
  readonly lastAnswer: number | undefined
}

const noSums: Sums = {
  read: 0,
  grown: 0,
  steps: 0,
  answers: 0,
  short: 0,
  long: 0,
  size: undefined,
  base: undefined,
  lastAnswer: undefined,
}

function sumsOf(messages: readonly ViewMessage[], before: Sums, end: number): Sums {
  const sums: { -readonly [Key in keyof Sums]: Sums[Key] } = { ...before }
  for (; sums.read < end; sums.read++) {
    const { role, usage, time } = messages[sums.read] as ViewMessage
    if (usage) {
      const size = contextTokens(usage)
      sums.base = Math.min(sums.base ?? size, size)
      // A smaller context is the work of a reduction, not growth.
      if (sums.size !== undefined && size >= sums.size) {
        sums.grown += size - sums.size
        sums.steps++
      }
      sums.size = size
    }
    if (role !== 'assistant' || time === undefined) continue
    const pause = sums.lastAnswer === undefined ? 0 : time - sums.lastAnswer
    if (pause >= cacheLifetimes.short) sums.short++
    if (pause >= cacheLifetimes.long) sums.long++
    sums.answers++
    sums.lastAnswer = time
  }
  return sums
}

/** The share of cold requests in real sessions. It weighs as much as `typicalAnswers` answers of this session. */
const typicalColdShare = { short: 0.03, long: 0.007 } as const
const typicalAnswers = 50

/** Growth is a mean: a median would miss the few large results that make up most of it. */
function paceFrom(sums: Sums, lifetime: number) {
  const share = (which: 'short' | 'long') =>
    (sums[which] + typicalColdShare[which] * typicalAnswers) / (sums.answers + typicalAnswers)
  const growth = sums.grown / sums.steps
  const coldShares = { short: share('short'), long: share('long') }
  const coldShare = lifetime > cacheLifetimes.short ? coldShares.long : coldShares.short
  return { growth: growth > 0 ? growth : undefined, base: sums.base, coldShare, coldShares }
}
