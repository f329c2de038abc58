// Whether the provider still has the prefix of a conversation, judged by the times and usage of its answers.
import type { ViewMessage } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'

export type CacheState = {
  /** unknown: no answer, no time, or a clock that went backwards. */
  readonly type: 'warm' | 'cold' | 'unknown'
  readonly lastAnswer?: number
  /** How long a prefix is kept, in milliseconds. */
  readonly lifetime: number
}

export const cacheLifetimes = { short: 300_000, long: 3_600_000 } as const

export type CacheStateInput = {
  readonly messages: readonly ViewMessage[]
  readonly now: number
  /** Default: as the newest recent answer that wrote to the cache says, else an hour. */
  readonly lifetime?: number | undefined
}

export function cacheStateOf({ messages, now, lifetime = lifetimeOf(messages) }: CacheStateInput): CacheState {
  const lastAnswer = newestAnswerTime(messages)
  if (lastAnswer === undefined) return { type: 'unknown', lifetime }
  if (lastAnswer > now) return { type: 'unknown', lastAnswer, lifetime }
  return { type: now - lastAnswer < lifetime ? 'warm' : 'cold', lastAnswer, lifetime }
}

/** Undefined if the newest answer has no time, whatever earlier ones say. */
export function newestAnswerTime(messages: readonly ViewMessage[]): number | undefined {
  return messages.findLast(({ role }) => role === 'assistant')?.time
}

/** Where a cache is in use nearly every answer writes to it. */
const recentMessages = 200

/** How long what an answer wrote is kept. If only the head is kept for an hour, the messages count. */
function lifetimeWritten({ cacheWrite, cacheWriteHour }: Pick<Usage, 'cacheWrite' | 'cacheWriteHour'>): number {
  return cacheWriteHour > 0 && cacheWriteHour === cacheWrite ? cacheLifetimes.long : cacheLifetimes.short
}

function lifetimeOf(messages: readonly ViewMessage[]): number {
  const usage = messages.slice(-recentMessages).findLast(({ usage }) => usage && usage.cacheWrite > 0)?.usage
  return usage ? lifetimeWritten(usage) : cacheLifetimes.long
}
