// A model client over the upstream that the caller's request goes to. A request that continues the caller's conversation is sent
// as the caller's own body with further messages, so that the prefix is the one in the prompt cache.
import type { Message, ModelAnswer, ModelClient, ModelFailure, ModelRequest, SendOptions } from 'everlong'
import { blocksOf, type JsonObject, modelFacts, readRefusal, textOf } from 'everlong/internal'
import type { Dialect } from '../dialects/dialect.ts'
import { eventsOf } from '../dialects/events.ts'
import { callUpstream, type UpstreamCall } from '../http/call.ts'
import type { Trace } from '../telemetry/telemetry.ts'

export type Relay = {
  readonly dialect: Dialect
  /** The caller's body, with the conversation to continue. */
  readonly body: JsonObject
  /** The same conversation in our shape. */
  readonly messages: readonly Message[]
  readonly call: Omit<UpstreamCall, 'body' | 'signal'>
  readonly trace: Trace
  /** Called with every answer, for the books. */
  readonly onAnswer: (answer: ModelAnswer) => void
}

export function relayClient(relay: Relay): ModelClient {
  const model = String(relay.body.model ?? '')
  return {
    provider: 'gateway',
    model,
    capabilities: (name) => {
      const { window, maxOutput } = modelFacts(name) ?? {}
      const limits = { ...(window === undefined ? {} : { window }), ...(maxOutput === undefined ? {} : { maxOutput }) }
      return {
        ...limits,
        cacheEdits: false,
        contextManagement: false,
        compaction: 'none',
        promptCache: true,
        offline: false,
      }
    },
    send: (request, options) => send(request, relay, options),
  }
}

async function send(
  request: ModelRequest,
  relay: Relay,
  { signal }: SendOptions = {},
): Promise<ModelAnswer | ModelFailure> {
  const body = Buffer.from(JSON.stringify(bodyOf(request, relay)))
  const asking = relay.trace.ask(relay.call.upstream, 'own')
  const told = await callUpstream({ ...relay.call, headers: asking.headers, body, signal })
  asking.ended(told.type === 'answer' ? told.status : 0)
  const failed = (reason: ModelFailure['reason'], message: string): ModelFailure => ({
    type: 'failed',
    reason,
    message,
    tries: 1,
  })
  if (told.type === 'aborted') return failed('aborted', 'The client went away.')
  if (told.type === 'unreachable') return failed('transient', told.why)
  const events = eventsOf(told.bytes, told.headers['content-type'])
  const answer = told.status < 300 ? relay.dialect.readAnswer(events) : undefined
  if (!answer) {
    const { status } = told
    const { reason, message, overflow } = readRefusal({ status, body: events.at(-1) ?? told.bytes.toString('utf8') })
    return { ...failed(reason, message), status, ...(overflow ? { overflow } : {}) }
  }
  const { id, model, content, stopReason, usage } = answer
  const read: ModelAnswer = { type: 'answer', id, model, content, stopReason, usage }
  asking.used({ model, usage })
  relay.onAnswer(read)
  return read
}

function bodyOf(request: ModelRequest, { dialect, body, messages }: Relay): JsonObject {
  const isContinued = messages.length > 0 && messages.every((message, at) => request.messages[at] === message)
  const write =
    dialect.name === 'responses'
      ? itemsOf
      : (list: readonly Message[]) => list.map(({ role, content }) => ({ role, content }))
  const field = dialect.name === 'responses' ? 'input' : 'messages'
  if (isContinued) {
    const own = Array.isArray(body[field]) ? body[field] : []
    return { ...body, [field]: [...own, ...write(request.messages.slice(messages.length))], stream: true }
  }
  const { model, system, maxTokens = 20_000, thinking } = request
  if (dialect.name === 'responses') {
    return { model, instructions: textOf(system), input: write(request.messages), store: false, stream: true }
  }
  return {
    model,
    max_tokens: maxTokens,
    system,
    messages: write(request.messages),
    ...(thinking ? { thinking } : {}),
    stream: true,
  }
}

/** As text, because questions about a conversation need no calls. */
function itemsOf(messages: readonly Message[]): readonly JsonObject[] {
  return messages.map(({ role, content }) => ({
    type: 'message',
    role,
    content: blocksOf(content).map((block) => ({
      type: role === 'assistant' ? 'output_text' : 'input_text',
      text: textOf([block]),
    })),
  }))
}
