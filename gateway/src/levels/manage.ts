// Level 3: reduces requests on the wire. What the engine omits stays omitted, in the same bytes, until it decides that another
// change pays. An unchanged request passes as it came.
import type { ModelAnswer } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { sizeOf } from '../dialects/size.ts'
import { bodyObject } from '../http/body.ts'
import { refuse } from '../http/refusals.ts'
import { clientIdsOf } from '../identify/client-ids.ts'
import type { Conversation } from '../identify/identify.ts'
import type { Parts } from '../parts.ts'
import { answerOr } from './answer.ts'
import type { ReadableCall } from './call.ts'
import { passOn, recordExchange } from './observe.ts'
import { signsOfLife } from './reply.ts'
import { createWire } from './wire.ts'

export function manage(call: ReadableCall, parts: Parts): Promise<void> {
  return answerOr(call, parts, async (bytes, own) => {
    const body = await manageableBody(call, bytes, parts)
    if (body) return send({ call, bytes, body, parts })
    const forwarded = await passOn(call, bytes, parts)
    recordExchange(call, { forwarded, bytes, own, isHandover: false }, parts)
  })
}

/** Undefined for an unknown shape, which passes unchanged. */
async function manageableBody(call: ReadableCall, bytes: Buffer, parts: Parts): Promise<JsonObject | undefined> {
  const { headers } = call.incoming
  if (parts.health.problem() !== undefined) {
    parts.log('warn', 'not-managed', { tenant: call.caller.tenant, why: 'The store is away.' })
    return undefined
  }
  // An encoded body could not be changed.
  if (headers['content-encoding'] !== undefined) return undefined
  const body = await bodyObject(bytes, { encoding: undefined, maxBytes: parts.config.limits.maxBodyBytes })
  // A single text, which the Responses API accepts instead of a list, has nothing to omit.
  const isList = Array.isArray(body?.messages) || Array.isArray(body?.input)
  return body && isList && call.dialect.readRequest(body) ? body : undefined
}

type Sending = { readonly call: ReadableCall; readonly bytes: Buffer; readonly body: JsonObject; readonly parts: Parts }

async function send({ call, bytes, body, parts }: Sending): Promise<void> {
  const { incoming, outgoing, dialect, caller } = call
  const asked = dialect.readRequest(body)
  if (!asked) return
  const { tenant } = caller
  let conversation: Conversation
  try {
    conversation = await parts.identify.conversationOf({ tenant, ids: clientIdsOf(incoming.headers, body), asked })
  } catch (error) {
    return unmanaged({ call, bytes, parts, why: messageOf(error) })
  }
  const wire = createWire(call, { bytes, body, parts })
  const stopSigns = signsOfLife(
    { outgoing, dialect: dialect.name, isStreamed: asked.isStreamed },
    parts.config.limits.pingMs,
  )
  const { run, release: close } = parts.managed.use({
    ...conversation,
    dialect: dialect.name,
    onEvent: call.trace.onEvent,
  })
  // Unstored messages come again with the next request.
  const release = () =>
    close().catch((error: unknown) =>
      parts.log('error', 'not-managed', { tenant, session: conversation.session, why: messageOf(error) }),
    )
  let response: Response
  try {
    response = await run({ body, wire })
  } catch (error) {
    stopSigns()
    const refusal = wire.refusal()
    if (refusal) {
      await release()
      refuse(outgoing, refusal, call.shape)
      const forwarded = { type: 'refused', status: refusal.status, headers: {}, bytes: undefined } as const
      const ended = { ...forwarded, isWhole: false, firstByteMs: undefined }
      return recordExchange(call, { forwarded: ended, bytes, own: wire.own(), isHandover: false, conversation }, parts)
    }
    await release()
    return unmanaged({ call, bytes, parts, why: messageOf(error), conversation, own: wire.own() })
  }
  stopSigns()
  const forwarded = await wire.answer(response)
  const sent = wire.sentFor(response)
  const size = sent === undefined ? {} : { sentTokens: sizeOf(dialect.readRequest(sent)) }
  recordExchange(call, { forwarded, bytes, own: wire.own(), isHandover: false, conversation, sent, ...size }, parts)
  await release()
}

type Unmanaged = Pick<Sending, 'call' | 'bytes' | 'parts'> & {
  readonly why: string
  readonly conversation?: Conversation
  readonly own?: readonly ModelAnswer[]
}

/** Nothing was answered yet, so the request can still pass unchanged. */
async function unmanaged({ call, bytes, parts, why, conversation, own = [] }: Unmanaged): Promise<void> {
  const found = conversation === undefined ? {} : { conversation }
  parts.log('error', 'not-managed', { tenant: call.caller.tenant, session: conversation?.session, why })
  const forwarded = await passOn(call, bytes, parts)
  recordExchange(call, { forwarded, bytes, own, isHandover: false, ...found }, parts)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
