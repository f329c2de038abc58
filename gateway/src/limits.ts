// What a key may use: requests and tokens in any 60 seconds, and requests at the same time. Counted in this process.
import { overLimit, type Refusal } from './http/refusals.ts'
import type { Caller } from './tenants.ts'

export type Limits = {
  /** The request is counted as running until the returned function is called. */
  readonly enter: (caller: Caller) => { readonly leave: () => void } | { readonly refusal: Refusal }
  /** Tokens are known when an answer has ended, so a request may exceed the limit and the next one waits. */
  readonly used: (caller: Pick<Caller, 'key'>, tokens: number) => void
}

const minute = 60_000

type Use = { readonly time: number; readonly tokens: number; readonly isRequest: boolean }

export function createLimits(now: () => number): Limits {
  const uses = new Map<string, Use[]>()
  const running = new Map<string, number>()
  const recent = (key: string): Use[] => {
    const kept = (uses.get(key) ?? []).filter(({ time }) => time > now() - minute)
    uses.set(key, kept)
    return kept
  }
  return {
    enter: ({ key, limits }) => {
      const { requestsPerMinute, tokensPerMinute, concurrent } = limits
      const count = running.get(key) ?? 0
      if (concurrent !== undefined && count >= concurrent)
        return { refusal: overLimit(`${concurrent} requests at a time`, 1) }
      if (requestsPerMinute !== undefined || tokensPerMinute !== undefined) {
        const all = recent(key)
        const requests = all.filter(({ isRequest }) => isRequest)
        if (requestsPerMinute !== undefined && requests.length >= requestsPerMinute) {
          return { refusal: overLimit(`${requestsPerMinute} requests a minute`, secondsUntil(requests[0], now())) }
        }
        const tokens = all.reduce((sum, use) => sum + use.tokens, 0)
        if (tokensPerMinute !== undefined && tokens >= tokensPerMinute) {
          const first = all.find((use) => use.tokens > 0)
          return { refusal: overLimit(`${tokensPerMinute} tokens a minute`, secondsUntil(first, now())) }
        }
        all.push({ time: now(), tokens: 0, isRequest: true })
      }
      running.set(key, count + 1)
      let isRunning = true
      return {
        leave: () => {
          if (isRunning) running.set(key, Math.max(0, (running.get(key) ?? 0) - 1))
          isRunning = false
        },
      }
    },
    used: ({ key }, tokens) => {
      if (uses.has(key)) recent(key).push({ time: now(), tokens, isRequest: false })
    },
  }
}

/** Until this use no longer counts. */
function secondsUntil(use: Use | undefined, now: number): number {
  return Math.max(1, Math.ceil(((use?.time ?? now) + minute - now) / 1_000))
}
