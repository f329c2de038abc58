// One request to an API from beginning to end: who calls, where it goes, forwarding it, and keeping what was said.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dialect } from '../dialects/dialect.ts'
import { dialectAt } from '../dialects/dialects.ts'
import type { Parts } from '../parts.ts'
import type { Caller } from '../tenants.ts'
import type { Route } from '../upstreams.ts'
import { collect } from './body.ts'
import { type Forwarded, forward } from './forward.ts'
import { hasCredential } from './headers.ts'
import { type Refusal, refusals, refuse, type Shape, tooLarge } from './refusals.ts'

export type Call = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly caller: Caller
  readonly route: Route
  /** Undefined if the request is passed on without being read. */
  readonly dialect: Dialect | undefined
  readonly shape: Shape
  readonly started: number
}

export async function handle(incoming: IncomingMessage, outgoing: ServerResponse, parts: Parts): Promise<void> {
  const started = parts.now()
  const call = admitted(incoming, outgoing, { parts, started })
  if ('refusal' in call) {
    refuse(outgoing, call.refusal, call.shape)
    parts.log('warn', 'refused', { status: call.refusal.status, reason: call.refusal.type })
    return
  }
  const entered = parts.limits.enter(call.caller)
  if ('refusal' in entered) {
    refuse(outgoing, entered.refusal, call.shape)
    parts.log('warn', 'refused', { status: 429, reason: 'rate_limit_error', key: call.caller.key })
    return
  }
  const ended = parts.metrics.streaming()
  try {
    await observe(call, parts)
  } finally {
    ended()
    entered.leave()
  }
}

type Refused = { readonly refusal: Refusal; readonly shape: Shape }

/** The request, if it may pass. Nothing of it was read or sent yet. */
function admitted(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { parts, started }: { readonly parts: Parts; readonly started: number },
): Call | Refused {
  const isMessagesApi =
    incoming.headers['anthropic-version'] !== undefined || incoming.headers['x-api-key'] !== undefined
  const route = parts.upstreams.routeOf(incoming.url ?? '', isMessagesApi)
  const dialect = incoming.method === 'POST' && route ? dialectAt(route.api) : undefined
  const shape = dialect?.shape ?? (isMessagesApi ? 'messages' : 'openai')
  const caller = parts.tenants.callerOf(incoming)
  const { maxBodyBytes } = parts.config.limits
  if (parts.isStopping()) return { refusal: refusals.stopping, shape }
  if (!caller) return { refusal: refusals.noKey, shape }
  if (!route) return { refusal: refusals.badPath, shape }
  if (!hasCredential(incoming.headers)) return { refusal: refusals.noCredential, shape }
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) return { refusal: tooLarge(maxBodyBytes), shape }
  return { incoming, outgoing, caller, route, dialect, shape, started }
}

/** Level 1: the bytes pass as they come, and are kept. */
async function observe(call: Call, parts: Parts): Promise<void> {
  const { incoming, outgoing, route, shape, dialect } = call
  const { limits } = parts.config
  const kept = collect(dialect ? limits.maxBodyBytes : 0)
  let size = 0
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    kept.add(chunk)
    if (size > limits.maxBodyBytes) incoming.destroy()
  })
  const forwarded = await forward({
    ...{ incoming, outgoing, shape, limits, body: incoming, now: parts.now },
    ...{ upstream: route.upstream, path: route.path },
  })
  finished(call, forwarded, parts)
  const bytes = kept.bytes()
  if (!dialect || !bytes) return
  const { caller, started: time } = call
  parts.recorder.add({
    ...{ caller, level: 'observe', dialect, forwarded, bytes, time, ms: parts.now() - time },
    ...{ upstream: route.upstream.name, headers: incoming.headers },
  })
}

function finished(
  { caller, route, dialect, started, incoming }: Call,
  forwarded: Forwarded,
  { log, now }: Parts,
): void {
  const { type, status, firstByteMs, isWhole } = forwarded
  log(status >= 500 || type === 'refused' ? 'warn' : 'info', 'request', {
    ...{ method: incoming.method, api: dialect?.name ?? 'other', tenant: caller.tenant, key: caller.key },
    ...{ upstream: route.upstream.name, status, end: type, whole: isWhole, firstByteMs, ms: now() - started },
  })
}
