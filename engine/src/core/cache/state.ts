// Whether the provider still holds the prefix of a conversation: read off the times and the usage of its answers. It
// asks no clock and no network.
import type { ViewMessage } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'

export type CacheState = {
  /** unknown: no answer, no time, or a clock that went backwards. */
  readonly type: 'warm' | 'cold' | 'unknown'
  /** When the newest answer came, where its record says so. */
  readonly lastAnswer?: number
  /** How long a prefix is kept, in milliseconds. */
  readonly lifetime: number
}

export const cacheLifetimes = { short: 300_000, long: 3_600_000 } as const

export type CacheStateInput = {
  readonly messages: readonly ViewMessage[]
  readonly now: number
  /** Where it is known; else the newest answer that wrote to the cache tells, if it is not long ago, and an hour is assumed. */
  readonly lifetime?: number | undefined
}

export function cacheStateOf({ messages, now, lifetime = lifetimeOf(messages) }: CacheStateInput): CacheState {
  const lastAnswer = newestAnswerTime(messages)
  if (lastAnswer === undefined) return { type: 'unknown', lifetime }
  if (lastAnswer > now) return { type: 'unknown', lastAnswer, lifetime }
  return { type: now - lastAnswer < lifetime ? 'warm' : 'cold', lastAnswer, lifetime }
}

/** Of the newest answer; one without a time hides those before it, since nobody can say how long ago it was. */
export function newestAnswerTime(messages: readonly ViewMessage[]): number | undefined {
  return messages.findLast(({ role }) => role === 'assistant')?.time
}

/** Where a cache is in use nearly every answer writes to it: further back there is nothing to be found. */
const lookedAt = 200

/** How long what an answer wrote is kept: where the head is kept for an hour and the messages are not, these count. */
export function lifetimeWritten({ cacheWrite, cacheWriteHour }: Pick<Usage, 'cacheWrite' | 'cacheWriteHour'>): number {
  return cacheWriteHour > 0 && cacheWriteHour === cacheWrite ? cacheLifetimes.long : cacheLifetimes.short
}

function lifetimeOf(messages: readonly ViewMessage[]): number {
  for (let at = messages.length - 1; at >= Math.max(0, messages.length - lookedAt); at--) {
    const usage = messages[at]?.usage
    if (usage === undefined || usage.cacheWrite === 0) continue
    return lifetimeWritten(usage)
  }
  return cacheLifetimes.long
}
