// One request to an API from beginning to end: identifying the caller, routing, forwarding, and storing the conversation.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dialectAt } from '../dialects/dialects.ts'
import { answerCompactions } from '../levels/answer.ts'
import type { Call, ReadableCall } from '../levels/call.ts'
import { manage } from '../levels/manage.ts'
import { observe } from '../levels/observe.ts'
import type { Parts } from '../parts.ts'
import { hasCredential } from './headers.ts'
import { type Refusal, refusals, refuse, type Shape, tooLarge } from './refusals.ts'

export async function handle(incoming: IncomingMessage, outgoing: ServerResponse, parts: Parts): Promise<void> {
  const started = parts.now()
  const admittance = admitted(incoming, outgoing, { parts, started })
  if ('refusal' in admittance) {
    const { refusal, shape } = admittance
    refuse(outgoing, refusal, shape)
    parts.log('warn', 'refused', { status: refusal.status, reason: refusal.type })
    return
  }
  const { caller, dialect } = admittance
  const trace = parts.telemetry.request({
    ...{ method: incoming.method ?? '', api: dialect?.name ?? 'other', time: started, headers: incoming.headers },
    ...{ tenant: caller.tenant, level: caller.level },
  })
  outgoing.once('close', () => trace.answered(outgoing.headersSent ? outgoing.statusCode : 0))
  const call: Call = { ...admittance, trace }
  const entered = await parts.limits.enter(call.caller)
  if ('refusal' in entered) {
    const { status, type: reason } = entered.refusal
    refuse(outgoing, entered.refusal, call.shape)
    trace.close()
    parts.log('warn', 'refused', { status, reason, tenant: call.caller.tenant, key: call.caller.key })
    return
  }
  const ended = parts.metrics.streaming()
  try {
    await (call.dialect ? levelOf(call)({ ...call, dialect: call.dialect }, parts) : observe(call, parts))
  } finally {
    ended()
    entered.leave()
  }
}

/** Each level includes the levels below it. */
function levelOf({ caller }: Call): (call: ReadableCall, parts: Parts) => Promise<void> {
  return { observe, answer: answerCompactions, manage }[caller.level]
}

type Refused = { readonly refusal: Refusal; readonly shape: Shape }

/** The request, if it may pass. Nothing was read or sent yet. */
function admitted(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { parts, started }: { readonly parts: Parts; readonly started: number },
): Omit<Call, 'trace'> | Refused {
  const isMessagesApi =
    incoming.headers['anthropic-version'] !== undefined || incoming.headers['x-api-key'] !== undefined
  const route = parts.upstreams.routeOf(incoming.url ?? '', isMessagesApi)
  const dialect = incoming.method === 'POST' && route ? dialectAt(route.api) : undefined
  const shape = dialect?.shape ?? (isMessagesApi ? 'messages' : 'openai')
  const caller = parts.tenants.callerOf(incoming)
  const { maxBodyBytes } = parts.config.limits
  if (parts.isStopping()) return { refusal: refusals.stopping, shape }
  if (!isWellFramed(incoming)) return { refusal: refusals.badFraming, shape }
  if (!caller) return { refusal: refusals.noKey, shape }
  if (!route) return { refusal: refusals.badPath, shape }
  if (parts.config.whenStoreIsAway === 'refuse' && parts.health.problem() !== undefined)
    return { refusal: refusals.storeAway, shape }
  if (!hasCredential(incoming)) return { refusal: refusals.noCredential, shape }
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) return { refusal: tooLarge(maxBodyBytes), shape }
  return { incoming, outgoing, caller, route, dialect, shape, started }
}

/** Rejects versions and framings that servers interpret differently, although Node's parser accepts them. */
function isWellFramed({ httpVersion, headers }: IncomingMessage): boolean {
  if (httpVersion === '1.0') return headers['transfer-encoding'] === undefined
  return httpVersion === '1.1'
}
