// Sessions between two requests: the length of their pause, whether their prefix is worth a touch now, and the data for one.
import { lifetimeWritten } from 'everlong/internal/compaction'
import type { Usage } from 'everlong/internal/wire'
import type { Config } from '../config/schema.ts'
import type { Passed } from '../transcripts/passed.ts'
import { createReturns } from './returns.ts'
import type { Repeatable } from './touch.ts'
import { prefixOf, touchWorth } from './worth.ts'

export type SeenExchange = {
  readonly passed: Passed
  readonly session: string
  /** Parent session of a sub-agent. */
  readonly parent: string | undefined
  readonly user: string | undefined
  readonly model: string
  readonly usage: Usage | undefined
  /** The client replaces its conversation, and the prefix with it. */
  readonly isCompaction: boolean
}

/** How long before its expiry a prefix is touched. A touch that takes longer comes too late. */
export const marginMs = 20_000

export type Idle = {
  readonly name: string
  readonly about: ExchangeFacts
  readonly usage: Usage
  readonly key: string
  readonly lifetimeMs: number
  /** Undefined if it will not be touched again, and only the length of the pause matters. */
  request: Repeatable | undefined
  /** Time of the prefix's last use, or of the touch that would have followed. */
  usedAt: number
  /** Length of the pause in cache lifetimes. */
  lifetimes: number
  touches: number
}

/** Facts about the exchange, without its content and the credential, which are in `request` until it is dropped. */
export type ExchangeFacts = Pick<SeenExchange, 'session' | 'user' | 'model'> &
  Pick<Passed, 'caller' | 'level' | 'upstream' | 'time'>

function aboutOf({ session, user, model, passed }: SeenExchange): ExchangeFacts {
  const { caller, level, upstream, time } = passed
  return { session, user, model, caller, level, upstream, time }
}

export type IdleSessions = {
  /** A session has continued. Returns the data about its pause. */
  readonly seen: (exchange: SeenExchange) => Idle | undefined
  /** Sessions to touch now. */
  readonly due: () => readonly { readonly idle: Idle; readonly request: Repeatable }[]
  readonly forget: (idle: Idle) => void
}

type Options = NonNullable<Config['keepAlive']>

export function idleSessions(
  { maxTouches, minTokens, maxDollars, maxBytes }: Options,
  now: () => number,
): IdleSessions {
  const sessions = new Map<string, Idle>()
  const returns = createReturns()
  const forget = (idle: Idle) => {
    if (sessions.get(idle.name) === idle) sessions.delete(idle.name)
  }
  const hold = (added: Idle) => {
    sessions.set(added.name, added)
    let bytes = 0
    // The oldest are dropped first.
    for (const idle of [...sessions.values()].toReversed()) {
      bytes += idle.request?.body.length ?? 0
      if (bytes > maxBytes) idle.request = undefined
    }
  }
  /** Begins the next cache lifetime if it is time. */
  const nextLifetime = (idle: Idle): Repeatable | undefined => {
    const left = idle.usedAt + idle.lifetimeMs - now()
    if (left > marginMs) return undefined
    if (idle.lifetimes > 0) returns.stayedAway(idle.key, idle.lifetimes)
    idle.lifetimes++
    idle.usedAt = now()
    if (idle.lifetimes > maxTouches || left <= 0) {
      forget(idle)
      return undefined
    }
    const returnShare = returns.share(idle.key, idle.lifetimes)
    const worth = touchWorth({ model: idle.about.model, usage: idle.usage, returnShare })
    if (!worth?.pays || worth.cost > maxDollars) idle.request = undefined
    return idle.request
  }
  return {
    forget,
    due: () =>
      [...sessions.values()].flatMap((idle) => {
        const request = nextLifetime(idle)
        return request ? [{ idle, request }] : []
      }),
    seen: (exchange) => {
      const { passed, session, usage } = exchange
      const { tenant, key: keyName } = passed.caller
      const name = JSON.stringify([tenant, session])
      const before = sessions.get(name)
      sessions.delete(name)
      if (before && before.lifetimes > 0) returns.returned(before.key, before.lifetimes)
      const request = repeatable(exchange)
      if (request && usage && prefixOf(usage) >= minTokens) {
        const lifetimeMs = lifetimeWritten(usage.cacheWrite > 0 ? usage : (before?.usage ?? usage))
        const key = JSON.stringify([tenant, keyName])
        hold({
          name,
          about: aboutOf(exchange),
          usage,
          key,
          lifetimeMs,
          request,
          usedAt: passed.time,
          lifetimes: 0,
          touches: 0,
        })
      }
      return before
    },
  }
}

/**
 * Undefined if the session is not kept warm: its client disconnected, replaces its conversation, or is a sub-agent, which rarely
 * pauses.
 */
function repeatable({ passed, parent, isCompaction }: SeenExchange): Repeatable | undefined {
  const { forwarded, headers, request, bytes } = passed
  const isPlain = headers['content-encoding'] === undefined
  const isDone = forwarded.type === 'answered' && forwarded.isWhole && forwarded.status === 200
  if (passed.dialect.name !== 'messages' || !isPlain || !isDone || isCompaction || parent !== undefined)
    return undefined
  const { route, rawHeaders, sent } = request
  return { route, rawHeaders, body: sent === undefined ? bytes : Buffer.from(JSON.stringify(sent)) }
}
