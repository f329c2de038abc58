// Converts messages of LangChain to ours and back. A changed message is a copy of the original with other content, so ids,
// artifacts, metadata and names survive. Never changes its input.
import type { BaseMessage } from '@langchain/core/messages'
import { documentAt, imageAt } from '../../core/message/chat-completions.ts'
import { arrayAt, defined, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import { type Block, blocksOf, isText, isToolUse, type Message } from '../../core/message/message.ts'
import type { TokenCounts } from '../../core/message/usage.ts'
import { type Converted, type Converter, isSame, type OriginOf } from '../history/converter.ts'
import {
  describedPart,
  onlyText,
  type ReadPart,
  readParts,
  textBlock,
  urlOf,
  usageWithCache,
  writeParts,
  writeRuns,
} from '../parts.ts'

export type LangChainMessage = BaseMessage

/** Classes for messages without an original: summaries, restored files. */
export type LangChainClasses = {
  readonly SystemMessage: new (fields: { content: never }) => BaseMessage
  readonly RemoveMessage: new (fields: { id: string }) => BaseMessage
  readonly HumanMessage: new (fields: { content: never }) => BaseMessage
  readonly AIMessage: new (fields: { content: never; tool_calls: never }) => BaseMessage
  readonly ToolMessage: new (fields: { content: never; tool_call_id: string }) => BaseMessage
}

export type MessageClasses = Pick<LangChainClasses, 'HumanMessage' | 'AIMessage' | 'ToolMessage'>

/**
 * System messages at the beginning are the system prompt; later ones become notes of the client. The classes must be loaded
 * before anything is written.
 */
export function langChainConverter(classes: () => MessageClasses): Converter<BaseMessage> {
  return {
    isSystem: isInstruction,
    read: (message) => ({ ...readLangChainMessage(message), ...defined({ usage: usageOf(message) }) }),
    write: (message, originOf) => writeLangChainMessage(message, classes(), originOf),
  }
}

function isInstruction({ type }: BaseMessage): boolean {
  return type === 'system' || type === 'developer'
}

export function readLangChainMessage(message: BaseMessage): Converted {
  if (isResult(message)) return { role: 'user', content: [resultOf(message)] }
  const said = readContent(message.content).map(({ block }) => block)
  if (isAnswer(message)) return { role: 'assistant', content: [...said, ...callsOf(message).map(callBlock)] }
  return { role: 'user', content: said, ...(message.type === 'human' ? {} : { origin: 'meta' as const }) }
}

function isAnswer(message: BaseMessage): boolean {
  return message.type === 'ai' || (message.type === 'generic' && stringAt(message, 'role') === 'assistant')
}

function isResult({ type }: BaseMessage): boolean {
  return type === 'tool' || type === 'function'
}

/** Skips calls, which are in `tool_calls`, and parts that only the provider reads. */
function readContent(content: unknown): readonly ReadPart<unknown>[] {
  const parts = Array.isArray(content) ? content : blocksOf(content)
  return readParts(
    parts.filter((part) => !isCallPart(part) && !isSilentPart(part)),
    blockOf,
  )
}

function callsOf(message: BaseMessage): readonly JsonObject[] {
  return arrayAt(message, 'tool_calls').filter(isObject)
}

function callBlock(call: JsonObject): Block {
  const name = stringAt(call, 'name') ?? 'unknown'
  return { type: 'tool_use', id: stringAt(call, 'id') ?? '', name, input: call.args ?? {} }
}

function resultOf(message: BaseMessage): Block {
  const id = stringAt(message, 'tool_call_id') ?? message.name ?? ''
  const { content } = message
  const read = typeof content === 'string' ? content : readContent(content).map(({ block }) => block)
  const result = { type: 'tool_result', tool_use_id: id, content: read }
  return stringAt(message, 'status') === 'error' ? { ...result, is_error: true } : result
}

export function usageOf(message: BaseMessage): TokenCounts | undefined {
  const usage = objectAt(message, 'usage_metadata')
  const details = objectAt(usage, 'input_token_details')
  return usageWithCache(
    defined({
      input: numberAt(usage, 'input_tokens'),
      output: numberAt(usage, 'output_tokens'),
      cacheRead: numberAt(details, 'cache_read'),
      cacheWrite: numberAt(details, 'cache_creation'),
    }),
  )
}

export function writeLangChainMessage(
  message: Message,
  classes: MessageClasses,
  originOf: OriginOf<BaseMessage> = () => undefined,
): readonly BaseMessage[] {
  return writeRuns(message, originOf, {
    answer: (blocks, before) => [unchanged(blocks, before) ?? writeAnswer(blocks, classes, before)],
    result: (block, before) => [unchanged([block], before) ?? writeResult(block, classes, before)],
    said: (blocks, before) => [unchanged(blocks, before) ?? writeSaid(blocks, classes, before)],
  })
}

function unchanged(blocks: readonly Block[], before: BaseMessage | undefined): BaseMessage | undefined {
  return before && isSame(readLangChainMessage(before).content, blocks) ? before : undefined
}

function writeSaid(
  blocks: readonly Block[],
  { HumanMessage }: MessageClasses,
  before: BaseMessage | undefined,
): BaseMessage {
  const own = before && !isResult(before) && !isAnswer(before) ? before : undefined
  const content = writeContent(blocks, own?.content)
  return own ? withContent(own, content) : new HumanMessage({ content: content as never })
}

function writeAnswer(
  blocks: readonly Block[],
  { AIMessage }: MessageClasses,
  before: BaseMessage | undefined,
): BaseMessage {
  const calls = blocks.filter(isToolUse)
  const said = blocks.filter((block) => !isToolUse(block))
  if (!before) {
    const content = writeContent(said.filter(isSendable), undefined)
    const tool_calls = calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, args: input }))
    return new AIMessage({ content: content as never, tool_calls: tool_calls as never })
  }
  const inputs = new Map(calls.map(({ id, input }) => [id, input]))
  const kept = callsOf(before).filter((call) => inputs.has(stringAt(call, 'id') ?? ''))
  const tool_calls = kept.map((call) => withInput(call, 'args', inputs))
  return withContent(before, writeParted(said, before, inputs), { tool_calls })
}

/** Providers refuse thinking without its signature. */
function isSendable(block: Block): boolean {
  return block.type !== 'thinking' || Boolean(block.signature)
}

/** A call that is also in the content gets the same input there. Parts that only the provider reads stay. */
function writeParted(said: readonly Block[], before: BaseMessage, inputs: ReadonlyMap<string, unknown>): unknown {
  const { content } = before
  if (!Array.isArray(content)) return said.length === 0 ? '' : writeContent(said, content)
  const parts: readonly unknown[] = content
  const calls = parts.filter(isCallPart).filter((part) => !isDropped(part, inputs))
  return [
    ...parts.filter(isSilentPart),
    ...writeParts(said, readContent(content), (block) => [partOf(block)]),
    ...calls.map((part) => withInput(part as JsonObject, 'input', inputs)),
  ]
}

function isDropped(part: unknown, inputs: ReadonlyMap<string, unknown>): boolean {
  const id = stringAt(part, 'id')
  return id !== undefined && !inputs.has(id)
}

function withInput(call: JsonObject, key: 'args' | 'input', inputs: ReadonlyMap<string, unknown>): JsonObject {
  const id = stringAt(call, 'id') ?? ''
  const isChanged = inputs.has(id) && key in call && !isSame(call[key], inputs.get(id))
  return isChanged ? { ...call, [key]: inputs.get(id) } : call
}

function writeResult(block: Block, { ToolMessage }: MessageClasses, before: BaseMessage | undefined): BaseMessage {
  const { content = '', tool_use_id: id } = block
  const own = before && isResult(before) && resultOf(before).tool_use_id === id ? before : undefined
  const written = typeof content === 'string' ? content : writeContent(blocksOf(content), own?.content ?? [])
  if (own) return withContent(own, written)
  return new ToolMessage({ content: written as never, tool_call_id: String(id) })
}

/** A single text becomes a string unless it was a list before. */
function writeContent(blocks: readonly Block[], before: unknown): unknown {
  if (Array.isArray(before)) return writeParts(blocks, readContent(before), (block) => [partOf(block)])
  return onlyText(blocks) ?? blocks.map(partOf)
}

/** A copy of the same class. `lc_kwargs` is what LangChain serializes. */
export function withContent(message: BaseMessage, content: unknown, fields: JsonObject = {}): BaseMessage {
  const copy: BaseMessage = Object.create(Object.getPrototypeOf(message))
  const kwargs = objectAt(message, 'lc_kwargs')
  const changed = { content, ...fields }
  return Object.assign(copy, message, changed, kwargs ? { lc_kwargs: { ...kwargs, ...changed } } : {})
}

// Content parts: LangChain's own standard blocks, those of the Messages API, those of chat completions.
const callParts = new Set(['tool_use', 'tool_call', 'tool_call_chunk', 'input_json_delta', 'function_call'])

/** Some providers put a call both into `tool_calls`, which counts, and into the content. */
function isCallPart(part: unknown): boolean {
  return callParts.has(stringAt(part, 'type') ?? '')
}

/** Reasoning that only its own provider can read. It stays with its message and is not a block of ours. */
function isSilentPart(part: unknown): boolean {
  const type = stringAt(part, 'type')
  return type === 'reasoning' || (type === 'thinking' && !stringAt(part, 'signature'))
}

/** A block that all our APIs accept. An unknown part becomes a description. */
function blockOf(part: JsonObject): Block {
  const type = stringAt(part, 'type') ?? 'part'
  const text = stringAt(part, 'text')
  if ((type === 'text' || type === 'text_delta') && text !== undefined) return textBlock(text)
  if (isApiBlock(part)) return withoutIndex(part)
  return mediaOf(part, type) ?? describedPart(type, part)
}

/** Blocks of the Messages API that providers leave unchanged in the content. */
function isApiBlock(part: JsonObject): part is Block {
  switch (part.type) {
    case 'thinking':
      return typeof part.thinking === 'string'
    case 'redacted_thinking':
      return typeof part.data === 'string'
    case 'image':
    case 'document':
      return objectAt(part, 'source') !== undefined
    case 'server_tool_use':
    case 'compaction':
    case 'search_result':
      return true
    default:
      return typeof part.type === 'string' && part.type.endsWith('_tool_result')
  }
}

/** Streams leave a block's index on it, which the API refuses. */
function withoutIndex(part: Block): Block {
  if (!('index' in part)) return part
  const { index: _, ...rest } = part
  return { ...rest, type: part.type }
}

function mediaOf(part: JsonObject, type: string): Block | undefined {
  if (type === 'image_url') {
    const url = stringAt(part, 'image_url') ?? stringAt(objectAt(part, 'image_url'), 'url')
    return url === undefined ? undefined : imageAt(url)
  }
  if (type !== 'image' && type !== 'file') return undefined
  const data = stringAt(part, 'data')
  const mediaType = stringAt(part, 'mimeType') ?? stringAt(part, 'mime_type')
  const fallback = type === 'image' ? 'image/jpeg' : 'application/pdf'
  const url = data === undefined ? stringAt(part, 'url') : `data:${mediaType ?? fallback};base64,${data}`
  if (url === undefined) return undefined
  return type === 'image' ? imageAt(url) : documentAt(url, stringAt(objectAt(part, 'metadata'), 'filename'))
}

/** Images and documents in LangChain's own standard blocks, which every provider package reads. */
function partOf(block: Block): JsonObject {
  if (isText(block)) return { type: 'text', text: block.text }
  const source = objectAt(block, 'source')
  const type = block.type === 'document' ? 'file' : block.type
  if (type !== 'image' && type !== 'file') return block
  const data = stringAt(source, 'data')
  if (source?.type === 'base64' && data !== undefined) {
    return { type, data, mimeType: stringAt(source, 'media_type') ?? 'application/octet-stream' }
  }
  const url = urlOf(block)
  return url === undefined ? block : { type, url }
}
