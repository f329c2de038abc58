// Level 1: passes the bytes unchanged, and stores them.
import { randomUUID } from 'node:crypto'
import type { ModelAnswer } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { collect } from '../http/body.ts'
import { type Forwarded, forward } from '../http/forward.ts'
import type { Conversation } from '../identify/identify.ts'
import type { Parts } from '../parts.ts'
import type { Call } from './call.ts'

export async function observe(call: Call, parts: Parts): Promise<void> {
  const { incoming, dialect } = call
  const { maxBodyBytes } = parts.config.limits
  const kept = collect(dialect ? maxBodyBytes : 0)
  incoming.on('data', kept.add)
  const forwarded = await passOn(call, incoming, parts)
  const bytes = kept.bytes()
  if (bytes) recordExchange(call, { forwarded, bytes, own: [], isHandover: false }, parts)
  else call.trace.close()
}

export async function passOn(call: Call, body: Buffer | Call['incoming'], parts: Parts): Promise<Forwarded> {
  const { incoming, outgoing, route, shape, trace } = call
  const { limits } = parts.config
  const { upstream, path } = route
  const { headers, ended } = trace.ask(upstream, 'client')
  const forwarded = await forward({ incoming, outgoing, shape, limits, body, upstream, path, headers, now: parts.now })
  ended(forwarded.status)
  return forwarded
}

export type Ended = {
  readonly forwarded: Forwarded
  /** Body of the request. */
  readonly bytes: Buffer
  readonly own: readonly ModelAnswer[]
  readonly isHandover: boolean
  /** Set if it was found before the request was sent. */
  readonly conversation?: Conversation
  /** Tokens of the sent request, by our estimate, if it differs from the client's. */
  readonly sentTokens?: number
  /** The sent body, if it differs from the client's. */
  readonly sent?: JsonObject | undefined
}

/** Logs the request, and leaves the rest to the background. */
export function recordExchange(call: Call, { sent, ...ended }: Ended, { log, now, recorder }: Parts): void {
  const { caller, route, dialect, started: time, incoming, trace } = call
  const { type, status, firstByteMs, isWhole } = ended.forwarded
  const upstream = route.upstream.name
  const ms = now() - time
  log(status >= 500 || type === 'refused' ? 'warn' : 'info', 'request', {
    ...{ method: incoming.method, api: dialect?.name ?? 'other', tenant: caller.tenant, key: caller.key },
    ...{ upstream, status, end: type, whole: isWhole, firstByteMs, ms },
    ...(ended.isHandover ? { handover: true } : {}),
  })
  if (!dialect) {
    trace.close()
    return
  }
  recorder.add({
    id: randomUUID(),
    trace,
    request: { route, rawHeaders: incoming.rawHeaders, sent },
    caller,
    level: caller.level,
    dialect,
    upstream,
    headers: incoming.headers,
    time,
    ms,
    ...ended,
  })
}
