// The body of a chat completion. Converts messages and options of the Messages API if there is a counterpart. Anything else
// (thinking, server tools, cache marks, betas) is dropped or written as text. Nothing is invented.

import { arrayAt, defined, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
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
import type { ModelRequest } from '../../core/ports/model.ts'

export type ChatDefaults = {
  readonly model: string
  readonly maxTokens?: number
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly body?: JsonObject
}

/** Fields with the same name in both APIs, or only in chat completions. */
const sameName = [
  'temperature',
  'top_p',
  'seed',
  'user',
  'reasoning_effort',
  'response_format',
  'prompt_cache_key',
  'service_tier',
  'parallel_tool_calls',
]

export function chatBody(request: ModelRequest, defaults: ChatDefaults): JsonObject {
  const limit = request.maxTokens ?? defaults.maxTokens
  const tools = (request.tools ?? []).flatMap(toolOf)
  return {
    model: request.model || defaults.model,
    messages: chatMessages(request),
    ...(tools.length === 0 ? {} : { tools, ...choiceOf(request.options?.tool_choice) }),
    ...(limit === undefined ? {} : { [defaults.maxTokensField]: limit }),
    ...optionsOf(request.options ?? {}),
    stream: true,
    stream_options: { include_usage: true },
    ...defaults.body,
  }
}

/** Tools of another provider's servers have no schema, and no meaning here. */
export function toolOf(tool: JsonObject): readonly { readonly type: 'function'; readonly function: JsonObject }[] {
  const name = stringAt(tool, 'name')
  const description = stringAt(tool, 'description')
  const parameters = objectAt(tool, 'input_schema')
  if (parameters === undefined || name === undefined) return []
  const strict = typeof tool.strict === 'boolean' ? tool.strict : undefined
  return [{ type: 'function', function: defined({ name, description, parameters, strict }) }]
}

function choiceOf(choice: unknown): JsonObject {
  if (!isObject(choice)) return {}
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  const name = stringAt(choice, 'name')
  if (choice.type === 'tool' && name !== undefined)
    return { tool_choice: { type: 'function', function: { name } }, ...parallel }
  const words: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }
  const word = words[String(choice.type)]
  return { ...(word === undefined ? {} : { tool_choice: word }), ...parallel }
}

function optionsOf(options: JsonObject): JsonObject {
  const same = Object.entries(options).filter(([key]) => sameName.includes(key))
  const stop = arrayAt(options, 'stop_sequences')
  return { ...Object.fromEntries(same), ...(stop.length === 0 ? {} : { stop }) }
}

function chatMessages({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): readonly JsonObject[] {
  const instruction = textOf(system)
  return [
    ...(instruction === '' ? [] : [{ role: 'system', content: instruction }]),
    ...messages.flatMap((message) => (message.role === 'assistant' ? assistant(message) : user(message))),
  ]
}

function assistant({ content }: Message): readonly JsonObject[] {
  const blocks = blocksOf(content).filter((block) => !isThinking(block))
  const calls = blocks.filter(isToolUse).map((block) => ({
    id: block.id,
    type: 'function',
    function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
  }))
  const text = blocks
    .filter((block) => !isToolUse(block))
    .map(textFor)
    .filter((part) => part !== '')
    .join('\n')
  if (text === '' && calls.length === 0) return []
  return [
    { role: 'assistant', content: text === '' ? null : text, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
  ]
}

/** Results first, one message each, then the rest with the images of the results, because tools answer in text. */
function user({ content }: Message): readonly JsonObject[] {
  const blocks = blocksOf(content)
  const results = blocks.filter(isToolResult)
  const images = results.flatMap((result) => blocksOf(result.content).filter((block) => partOf(block) !== undefined))
  const rest = [...images, ...blocks.filter((block) => !isToolResult(block))]
  return [
    ...results.map((result) => ({
      role: 'tool',
      tool_call_id: result.tool_use_id,
      content: resultText(result.content),
    })),
    ...(rest.length === 0 ? [] : [{ role: 'user', content: userContent(rest) }]),
  ]
}

function userContent(blocks: readonly Block[]): string | readonly JsonObject[] {
  const [only] = blocks
  if (blocks.length === 1 && only !== undefined && isText(only)) return only.text
  return blocks.map((block) => partOf(block) ?? { type: 'text', text: textFor(block) })
}

function resultText(content: unknown): string {
  return blocksOf(content)
    .map((block) => (partOf(block) === undefined ? textFor(block) : `[${block.type}: see the next user message]`))
    .join('\n')
}

/** Converts a part other than text: an image or a file. */
export function partOf(block: Block): JsonObject | undefined {
  const source = objectAt(block, 'source')
  const url = stringAt(source, 'url')
  const data = stringAt(source, 'data')
  const encoded = `data:${stringAt(source, 'media_type') ?? 'application/octet-stream'};base64,${data ?? ''}`
  const isEncoded = source?.type === 'base64' && data !== undefined
  if (block.type === 'image' && (url !== undefined || isEncoded))
    return { type: 'image_url', image_url: { url: url ?? encoded } }
  if (block.type !== 'document' || !isEncoded) return undefined
  return { type: 'file', file: { filename: stringAt(block, 'title') ?? 'document.pdf', file_data: encoded } }
}

export function textFor(block: Block): string {
  if (isText(block)) return block.text
  // A summary by another API stays a summary.
  if (block.type === 'compaction') return stringAt(block, 'content') ?? ''
  const source = objectAt(block, 'source')
  if (block.type === 'document') return stringAt(source, 'data') ?? textOf(source?.content) ?? '[document]'
  return `[${block.type}]`
}
