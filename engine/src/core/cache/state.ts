// Whether the provider still holds the prefix of a conversation: read off the times and the usage of its answers. It
// asks no clock and no network.
import type { ViewMessage } from '../message/message.ts'

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
  /** Where it is known; else the newest answer that wrote to the cache tells, and an hour is assumed without one. */
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

function lifetimeOf(messages: readonly ViewMessage[]): number {
  const writer = messages.findLast(({ usage }) => usage !== undefined && usage.cacheWrite > 0)?.usage
  if (!writer) return cacheLifetimes.long
  return writer.cacheWriteHour > 0 ? cacheLifetimes.long : cacheLifetimes.short
}
