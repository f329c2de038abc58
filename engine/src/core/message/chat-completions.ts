// Converts messages, answers and tools of chat completions to those of the Messages API. Drops anything else.

import { arrayAt, isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from './json.ts'
import { type Block, blocksOf } from './message.ts'
import { noTokens, type Usage } from './usage.ts'

/**
 * True if the message has a shape that only chat completions have: calls beside the content, results as messages, `image_url`,
 * files.
 */
export function isChatMessage(message: JsonObject): boolean {
  if (message.role === 'tool') return typeof message.tool_call_id === 'string'
  if (Array.isArray(message.tool_calls)) return true
  return blocksOf(message.content).some(({ type }) => type === 'image_url' || type === 'file')
}

export function fromChatContent(message: JsonObject): string | readonly Block[] {
  if (message.role === 'tool') {
    const id = stringAt(message, 'tool_call_id') ?? ''
    return [{ type: 'tool_result', tool_use_id: id, content: partsOf(message.content) }]
  }
  const calls = message.role === 'assistant' ? arrayAt(message, 'tool_calls') : []
  if (calls.length === 0) return partsOf(message.content)
  const named = calls.filter(isObject).filter(({ id }) => typeof id === 'string')
  return [...blocksOf(partsOf(message.content)), ...named.map(fromChatCall)]
}

function partsOf(content: unknown): string | readonly Block[] {
  return typeof content === 'string' ? content : blocksOf(content).map((part) => fromChatPart(part) ?? part)
}

/** Converts a refusal, an image or a file. Undefined for any other part. */
export function fromChatPart(part: JsonObject): Block | undefined {
  const refusal = part.type === 'refusal' ? stringAt(part, 'refusal') : undefined
  if (refusal !== undefined) return { type: 'text', text: refusal }
  const url = part.type === 'image_url' ? stringAt(objectAt(part, 'image_url'), 'url') : undefined
  if (url !== undefined) return imageAt(url)
  const file = part.type === 'file' ? objectAt(part, 'file') : undefined
  const data = stringAt(file, 'file_data')
  return data === undefined ? undefined : documentAt(data, stringAt(file, 'filename'))
}

/** Accepts the address of an image or a data URL. */
export function imageAt(url: string): Block {
  return { type: 'image', source: sourceAt(url) }
}

/** The Messages API reads only PDFs, so the data of any other file gives undefined. */
export function documentAt(url: string, title: string | undefined): Block | undefined {
  const source = sourceAt(url)
  if ('media_type' in source && source.media_type !== 'application/pdf') return undefined
  return { type: 'document', source, ...(title === undefined ? {} : { title }) }
}

function sourceAt(url: string): JsonObject {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data }
}

/** Converts a call of a function, or of a custom tool, whose input is text. */
export function fromChatCall(call: JsonObject): Block {
  const custom = objectAt(call, 'custom')
  const made = custom ?? objectAt(call, 'function')
  const input = custom ? { input: custom.input } : inputOf(stringAt(made, 'arguments') ?? '{}')
  return { type: 'tool_use', id: stringAt(call, 'id') ?? '', name: stringAt(made, 'name') ?? 'unknown', input }
}

/** Parses the arguments of a call. If they are not a JSON object, the text itself is the input. */
export function inputOf(words: string): JsonObject {
  return parseObject(words) ?? { arguments: words }
}

/** Undefined if `given` is not a chat completion. */
export function fromChatAnswer(given: JsonObject): JsonObject | undefined {
  const [choice] = arrayAt(given, 'choices')
  const message = objectAt(choice, 'message')
  if (message === undefined) return undefined
  const { id, model } = given
  const refusal = stringAt(message, 'refusal')
  const content = blocksOf(fromChatContent({ ...message, role: 'assistant' }))
  const hasCalls = content.some(({ type }) => type === 'tool_use')
  const finish = chatStopReason(stringAt(choice, 'finish_reason') ?? 'stop', hasCalls)
  const usage = objectAt(given, 'usage')
  const { input, cacheRead, output } = chatUsage(usage)
  return {
    id,
    model,
    content: refusal === undefined ? content : [...content, { type: 'text', text: refusal }],
    stop_reason: refusal === undefined ? finish : 'refusal',
    ...(usage ? { usage: { input_tokens: input, cache_read_input_tokens: cacheRead, output_tokens: output } } : {}),
  }
}

const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** Local servers report `stop` even when they call tools. */
export function chatStopReason(finish: string, hasCalls: boolean): string {
  return hasCalls && finish === 'stop' ? 'tool_use' : (stopReasons[finish] ?? finish)
}

/** Chat completions count cached tokens as part of the prompt; the Messages API counts them separately. */
export function chatUsage(usage: JsonObject | undefined): Usage {
  const prompt = numberAt(usage, 'prompt_tokens') ?? 0
  const cached =
    numberAt(objectAt(usage, 'prompt_tokens_details'), 'cached_tokens') ??
    numberAt(usage, 'prompt_cache_hit_tokens') ??
    0
  return {
    ...noTokens,
    input: Math.max(0, prompt - cached),
    cacheRead: cached,
    output: numberAt(usage, 'completion_tokens') ?? 0,
  }
}

/** Converts a tool. Drops the functions of a tool that the host can run, because a request cannot carry them. */
export function fromChatTool(tool: JsonObject): JsonObject {
  const { name, description, parameters, strict } = objectAt(tool, 'function') ?? {}
  if (typeof name === 'string') {
    return {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      input_schema: parameters ?? { type: 'object', properties: {} },
      ...(typeof strict === 'boolean' ? { strict } : {}),
    }
  }
  return Object.fromEntries(Object.entries(tool).filter(([, value]) => typeof value !== 'function'))
}
