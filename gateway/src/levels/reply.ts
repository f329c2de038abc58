// An answer of the gateway itself in the format of an API: whole, or as a stream with pings while it is being made.
import type { ServerResponse } from 'node:http'
import type { TokenCounts } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { usageRecord } from 'everlong/internal/wire'
import type { DialectName } from '../dialects/dialect.ts'

export type Reply = {
  readonly id: string
  readonly model: string
  readonly text: string
  /** Usage of the requests to the model that made it. */
  readonly usage: TokenCounts
}

export type Replying = {
  readonly outgoing: ServerResponse
  readonly dialect: DialectName
  readonly isStreamed: boolean
}

/** Writes pings until it is stopped. Writes nothing to a client that does not read a stream. */
export function signsOfLife({ outgoing, dialect, isStreamed }: Replying, everyMs: number): () => void {
  if (!isStreamed) return () => undefined
  const sign = dialect === 'messages' ? 'event: ping\ndata: {"type": "ping"}\n\n' : ': working\n\n'
  const write = () => {
    if (outgoing.destroyed) return
    if (!outgoing.headersSent) outgoing.writeHead(200, streamHeaders)
    outgoing.write(sign)
  }
  const timer = setInterval(write, everyMs)
  return () => clearInterval(timer)
}

const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } as const

export function writeReply({ outgoing, dialect, isStreamed }: Replying, reply: Reply): void {
  if (outgoing.destroyed) return
  if (!isStreamed) {
    const body = JSON.stringify(dialect === 'messages' ? wholeMessage(reply) : wholeResponse(reply))
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    outgoing.end(body)
    return
  }
  if (!outgoing.headersSent) outgoing.writeHead(200, streamHeaders)
  const events = dialect === 'messages' ? messageEvents(reply) : responseEvents(reply)
  outgoing.end(events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

function wholeMessage({ id, model, text, usage }: Reply): JsonObject {
  return {
    ...{ id, type: 'message', role: 'assistant', model, content: [{ type: 'text', text }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: usageRecord(usage) },
  }
}

function messageEvents(reply: Reply): readonly JsonObject[] {
  const message = wholeMessage(reply)
  const usage = usageRecord(reply.usage)
  const started = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  return [
    { type: 'message_start', message: started },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: reply.text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function wholeResponse(reply: Reply): JsonObject {
  const { id, model, usage } = reply
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    ...{ id, object: 'response', status: 'completed', model, error: null, incomplete_details: null },
    ...{ output: [itemOf(reply)], parallel_tool_calls: true, tool_choice: 'auto', tools: [] },
    usage: {
      ...{ input_tokens: input, input_tokens_details: { cached_tokens: usage.cacheRead }, output_tokens: usage.output },
      ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + usage.output },
    },
  }
}

function itemOf({ id, text }: Reply): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: `msg_${id}`, status: 'completed', role: 'assistant', content }
}

function responseEvents(reply: Reply): readonly JsonObject[] {
  const response = wholeResponse(reply)
  const item = itemOf(reply)
  const place = { item_id: item.id, output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [] }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...place, part },
    { type: 'response.output_text.delta', ...place, delta: reply.text },
    { type: 'response.output_text.done', ...place, text: reply.text },
    { type: 'response.content_part.done', ...place, part: { ...part, text: reply.text } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ]
  return events.map((event, at) => ({ ...event, sequence_number: at }))
}
