// The Responses API: the body of a request, and the answer from the events of its stream. Nothing is stored on the server, and
// reasoning is not sent back, because a summary does not need it.

import { arrayAt, defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import {
  type Block,
  blocksOf,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type Message,
  textOf,
} from '../../core/message/message.ts'
import { noTokens, type TokenCounts } from '../../core/message/usage.ts'
import type { ModelAnswer, ModelRequest } from '../../core/ports/model.ts'
import { type Accumulator, BrokenStream, type Delta, RefusedStream } from '../stream.ts'
import { type Call, readCalls } from './accumulate.ts'
import { type ChatDefaults, partOf, textFor, toolOf } from './body.ts'

export function responsesBody(request: ModelRequest, defaults: Omit<ChatDefaults, 'maxTokensField'>): JsonObject {
  const limit = request.maxTokens ?? defaults.maxTokens
  const instructions = textOf(request.system)
  const tools = (request.tools ?? []).flatMap(toolOf).map(({ function: named }) => ({ type: 'function', ...named }))
  const { temperature, top_p, user, service_tier } = request.options ?? {}
  return {
    model: request.model || defaults.model,
    input: request.messages.flatMap(itemsOf),
    ...(instructions === '' ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...defined({ temperature, top_p, user, service_tier }),
    store: false,
    stream: true,
    ...defaults.body,
  }
}

function itemsOf({ role, content }: Message): readonly JsonObject[] {
  const blocks = blocksOf(content).filter((block) => !isThinking(block))
  const said = blocks.filter((block) => !isToolUse(block) && !isToolResult(block))
  const message =
    said.length === 0 ? [] : [{ type: 'message', role, content: said.map((block) => partFor(block, role)) }]
  const others = blocks.flatMap((block): readonly JsonObject[] => {
    if (isToolUse(block)) {
      const { id, name, input } = block
      return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input ?? {}) }]
    }
    if (!isToolResult(block)) return []
    const output = blocksOf(block.content).map((part) => partFor(part, 'user'))
    return [{ type: 'function_call_output', call_id: block.tool_use_id, output }]
  })
  return role === 'assistant' ? [...message, ...others] : [...others, ...message]
}

function partFor(block: Block, role: Message['role']): JsonObject {
  if (role === 'assistant') return { type: 'output_text', text: textFor(block), annotations: [] }
  const part = isText(block) ? undefined : partOf(block)
  const url = stringAt(objectAt(part, 'image_url'), 'url')
  if (url !== undefined) return { type: 'input_image', image_url: url, detail: 'auto' }
  const file = objectAt(part, 'file')
  return file ? { type: 'input_file', ...file } : { type: 'input_text', text: textFor(block) }
}

/** The last event holds the whole response. Earlier ones only show progress. */
export class ResponsesAccumulator implements Accumulator {
  private response: JsonObject | undefined

  isComplete(): boolean {
    return this.response !== undefined
  }

  add(event: unknown): Delta | undefined {
    const type = stringAt(event, 'type') ?? ''
    // A server that does not stream sends only the response.
    if (stringAt(event, 'object') === 'response' && isObject(event)) this.response = event
    if (/^response\.(completed|incomplete|failed)$/.test(type)) this.response = objectAt(event, 'response')
    if (type === 'error') throw failureIn(isObject(event) ? { error: objectAt(event, 'error') ?? event } : {})
    const text = stringAt(event, 'delta') ?? ''
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') return { type: 'text', text }
    return type === 'response.function_call_arguments.delta' ? { type: 'json', text } : undefined
  }

  answer(): ModelAnswer {
    const { response } = this
    if (response === undefined) throw new BrokenStream('the stream ended before the answer did')
    const { status } = response
    if (status === 'failed') throw failureIn(response)
    const output = arrayAt(response, 'output').filter(isObject)
    const id = stringAt(response, 'id') ?? ''
    const { calls, unread } = readCalls(output.filter(({ type }) => type === 'function_call').map(callOf), id)
    const parts = output.filter(({ type }) => type === 'message').flatMap((item) => arrayAt(item, 'content'))
    const texts = parts.map((part) => stringAt(part, 'text') ?? stringAt(part, 'refusal') ?? '')
    const isRefused = parts.some((part) => stringAt(part, 'type') === 'refusal')
    const done = calls.length > 0 ? 'tool_use' : isRefused ? 'refusal' : 'end_turn'
    return {
      type: 'answer',
      id,
      model: stringAt(response, 'model') ?? '',
      content: [...texts.filter((text) => text !== '').map((text) => ({ type: 'text', text })), ...calls],
      stopReason: status === 'incomplete' ? reasonIn(response) : done,
      usage: responsesUsage(response),
      extra: unread,
    }
  }
}

function failureIn(response: JsonObject): RefusedStream {
  const error = objectAt(response, 'error') ?? {}
  return new RefusedStream(stringAt(error, 'message') ?? 'The response failed.', error)
}

function reasonIn(response: JsonObject): string {
  const reason = stringAt(objectAt(response, 'incomplete_details'), 'reason')
  return reason === 'content_filter' ? 'refusal' : 'max_tokens'
}

function callOf(item: JsonObject): Call {
  const [id = '', name = '', json = ''] = ['call_id', 'name', 'arguments'].map((field) => stringAt(item, field))
  return { id, name, json }
}

/** Cached tokens are included in the input here. */
export function responsesUsage(response: unknown): TokenCounts {
  const usage = objectAt(response, 'usage')
  const cacheRead = numberAt(objectAt(usage, 'input_tokens_details'), 'cached_tokens') ?? 0
  const input = Math.max(0, (numberAt(usage, 'input_tokens') ?? 0) - cacheRead)
  return { ...noTokens, input, cacheRead, output: numberAt(usage, 'output_tokens') ?? 0 }
}
