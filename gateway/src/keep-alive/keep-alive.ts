// Keeps the prompt cache of idle sessions warm, where that is expected to pay: shortly before a prefix expires, the last request is
// repeated without output. For that the request is held in memory with the caller's credential, and nowhere else, until the session
// continues, a touch no longer pays, or the maximum is reached.
import { randomUUID } from 'node:crypto'
import type { Usage } from 'everlong/internal/wire'
import type { Books, Row } from '../books/book.ts'
import { rowOf } from '../books/rows.ts'
import type { Config } from '../config/schema.ts'
import { messages as dialect } from '../dialects/messages.ts'
import { createInFlight } from '../http/in-flight.ts'
import type { Log } from '../log.ts'
import type { StoreHealth } from '../state/health.ts'
import type { Notes } from '../state/state.ts'
import { type Idle, idleSessions, marginMs, type SeenExchange } from './idle.ts'
import { type Repeatable, type Touched, touch } from './touch.ts'
import { prefixOf, touchWorth } from './worth.ts'

export type KeepAlive = {
  /** An exchange of a session was written. */
  readonly seen: (exchange: SeenExchange) => Promise<void>
  readonly close: () => Promise<void>
}

export type KeepAliveParts = {
  readonly config: Pick<Config, 'keepAlive' | 'limits'>
  readonly books: Books
  readonly notes: Notes
  readonly health: StoreHealth
  readonly log: Log
  readonly now: () => number
}

/** Interval of the checks of idle sessions. */
const everyMs = 5_000

export function createKeepAlive(parts: KeepAliveParts): KeepAlive {
  const { config, books, health } = parts
  const { keepAlive: options } = config
  if (!options) return { seen: async () => undefined, close: async () => undefined }
  const sessions = idleSessions(options, parts.now)
  const stopped = new AbortController()
  const touches = createInFlight()
  const look = () => {
    if (health.problem() !== undefined) return
    for (const { idle, request } of sessions.due()) {
      const touching = touchOne(idle, request, {
        ...parts,
        signal: stopped.signal,
        forget: () => sessions.forget(idle),
      })
      touches.add(touching.catch((error: unknown) => parts.log('warn', 'not-kept-alive', { why: String(error) })))
    }
  }
  const timer = setInterval(look, everyMs).unref()
  return {
    seen: async (exchange) => {
      const before = sessions.seen(exchange)
      if (before && before.touches > 0 && exchange.usage) await books.add(savedRow(before, exchange, exchange.usage))
    },
    close: async () => {
      clearInterval(timer)
      stopped.abort()
      await touches.settled()
    },
  }
}

type Touching = KeepAliveParts & { readonly signal: AbortSignal; readonly forget: () => void }

async function touchOne(idle: Idle, request: Repeatable, touching: Touching): Promise<void> {
  const { config, books, log, now, signal, forget } = touching
  const time = now()
  if (await isContinuedElsewhere(idle, touching)) return forget()
  const touched = await touch(request, { timeoutMs: marginMs, maxBytes: config.limits.maxBodyBytes, signal })
  if (signal.aborted) return
  const isKept = touched !== undefined && touched.status < 300 && (touched.usage?.cacheRead ?? 0) > 0
  if (isKept) idle.touches++
  else forget()
  if (!touched) return
  const { tenant, key } = idle.about.caller
  log(isKept ? 'info' : 'warn', isKept ? 'kept-alive' : 'not-kept-alive', { tenant, key, status: touched.status })
  await books.add(touchRow(idle, touched, { time, ms: now() - time }))
}

/** Another gateway on the same database has served a later request of the session. */
async function isContinuedElsewhere({ about }: Idle, { notes }: Pick<KeepAliveParts, 'notes'>): Promise<boolean> {
  const note = await notes.get(about.caller.tenant, about.session, 'watch')
  const time: unknown = note === undefined ? undefined : JSON.parse(note).watch?.baseline?.time
  return typeof time === 'number' && time > about.time
}

type When = { readonly time: number; readonly ms: number }

function touchRow({ about }: Idle, { status, usage }: Touched, { time, ms }: When): Row {
  const { session, user, model } = about
  const told = { ...about, dialect, time, ms, forwarded: { status } }
  return rowOf(told, { id: randomUUID(), kind: 'keep-alive', user, model, session, usage, watched: undefined })
}

/** The extra cost of the client's request without the earlier touches. */
function savedRow(before: Idle, exchange: SeenExchange, usage: Usage): Row {
  const { passed, session, user, model } = exchange
  const kept = { ...before.usage, cacheRead: Math.min(usage.cacheRead, prefixOf(before.usage)), cacheWrite: 0 }
  const saved = touchWorth({ model, usage: kept, returnShare: 1 })?.saving
  const told = { ...passed, ms: 0 }
  const row = rowOf(told, {
    ...{ id: `${passed.id}-kept`, kind: 'keep-alive', user, model, session },
    usage: none,
    watched: undefined,
  })
  // A touch has no outcome of its own, so that sums can distinguish the two.
  return { ...row, cache: 'hit', saved }
}

const none: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
