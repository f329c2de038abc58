// Converts messages of the AI SDK to ours and back. A prompt of a language model (specification v2 to v4) and the model messages
// of `generateText` differ only in details, and unknown parts must pass through, so all of them are read as plain objects. An
// unchanged part is written as the SDK's own object; a changed one keeps everything except its content.

import { isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import {
  type Block,
  blocksOf,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  textOf,
} from '../../core/message/message.ts'
import type { TokenCounts } from '../../core/message/usage.ts'
import type { Converted, Converter, OriginOf } from '../history/converter.ts'
import { textBlock, writeParts } from '../parts.ts'

export type Part = JsonObject & { readonly type: string }

export type AiMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly Part[]
  readonly providerOptions?: JsonObject
}

/** The form of files: tagged (`{ type: 'data', data }`), as prompts of v4 need it, or bare. */
export type FileShape = 'tagged' | 'bare'

type Writing = { readonly originOf: OriginOf<AiMessage>; readonly files: FileShape }

export function aiSdkConverter(files: FileShape): Converter<AiMessage> {
  return {
    isSystem,
    read: readMessage,
    write: ({ role, content }, originOf) => {
      const blocks = blocksOf(content)
      const writing = { originOf, files }
      if (role === 'assistant') return messageOf('assistant', blocks, writing)
      const isOfTools = (block: Block) => isToolResult(block) || originOf(block)?.role === 'tool'
      const others = blocks.filter((block) => !isOfTools(block))
      return [...messageOf('tool', blocks.filter(isOfTools), writing), ...messageOf('user', others, writing)]
    },
    withMark: (message, mark) => (isObject(mark) ? marked(message, mark) : message),
  }
}

export function isSystem({ role }: AiMessage): boolean {
  return role === 'system'
}

export function partsIn(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isPart) : []
}

function isPart(value: unknown): value is Part {
  return isObject(value) && typeof value.type === 'string'
}

/** The place where Anthropic's provider stores data that the API needs back: signatures, redacted thinking. */
export function anthropicOptions(part: unknown): JsonObject | undefined {
  return objectAt(objectAt(part, 'providerOptions'), 'anthropic')
}

function readMessage({ role, content }: AiMessage): Converted {
  const blocks = partsIn(content).map((part) => blockOf(part, role))
  // Only the user's text is a person's. Approvals and notes in between are the client's.
  const origin = role === 'system' || role === 'tool' ? ({ origin: 'meta' } as const) : {}
  return { role: role === 'assistant' ? 'assistant' : 'user', content: blocks, ...origin }
}

/** Unknown parts become text. */
function blockOf(part: Part, role: AiMessage['role']): Block {
  const id = stringAt(part, 'toolCallId')
  const name = stringAt(part, 'toolName')
  switch (part.type) {
    case 'text':
      return textBlock(textOfPart(part))
    case 'reasoning':
      return thinkingBlock(part)
    case 'file':
    case 'image':
    case 'reasoning-file':
      return mediaBlock(part)
    case 'tool-call':
      // Tools that the provider executed are part of the answer, in their own shape.
      if (id === undefined || name === undefined || part.providerExecuted === true) break
      return { type: 'tool_use', id, name, input: part.input }
    case 'tool-result':
      if (id === undefined || role !== 'tool') break
      return resultBlock(part, id)
  }
  return unknownBlock(part)
}

/**
 * Thinking of every provider counts as signed. Only Anthropic's has a field of that name, but others need their signature back as
 * well.
 */
function thinkingBlock(part: Part): Block {
  const { signature, redactedData } = anthropicOptions(part) ?? {}
  if (typeof redactedData === 'string') return { type: 'redacted_thinking', data: redactedData }
  const own = typeof signature === 'string' ? signature : `ai-sdk ${JSON.stringify(part.providerOptions ?? {})}`
  return { type: 'thinking', thinking: textOfPart(part), signature: own }
}

function resultBlock({ output, ...rest }: Part, id: string): Block {
  const result = (content: string | readonly Block[], isError: boolean): Block => ({
    type: 'tool_result',
    tool_use_id: id,
    content,
    ...(isError ? { is_error: true } : {}),
  })
  // Before v5 the result was the value itself.
  if (!isObject(output)) return result(asText(output ?? rest.result), rest.isError === true)
  const { type, value, reason } = output
  if (type === 'execution-denied') return result(`The call was denied${reason ? `: ${asText(reason)}` : '.'}`, true)
  const isError = String(type).startsWith('error')
  return result(type === 'content' ? partsIn(value).map(itemBlock) : asText(value), isError)
}

/** An item of a result: text, a file under one of its many names, or a part specific to the provider. */
function itemBlock(item: Part): Block {
  if (item.type === 'text') return textBlock(textOfPart(item))
  return item.data !== undefined || item.url !== undefined ? mediaBlock(item) : unknownBlock(item)
}

function unknownBlock(part: Part): Block {
  return textBlock(asText(part))
}

function textOfPart(part: Part): string {
  return stringAt(part, 'text') ?? ''
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** A file. Its size is estimated from its data: bytes, base64, a URL, or a reference that the provider resolves. */
function mediaBlock(part: Part): Block {
  const named = stringAt(part, 'mediaType') ?? stringAt(part, 'mimeType')
  const mediaType = named ?? (part.type.startsWith('image') ? 'image/png' : 'application/octet-stream')
  const source = sourceOf(part.data ?? part.image ?? part.url, mediaType)
  if (source.type === 'text') return textBlock(String(source.data))
  return { type: mediaType.startsWith('image') ? 'image' : 'document', source }
}

function sourceOf(given: unknown, mediaType: string): JsonObject {
  if (typeof given === 'string') {
    if (/^https?:/i.test(given)) return { type: 'url', url: given }
    const data = given.startsWith('data:') ? given.slice(given.indexOf(',') + 1) : given
    return { type: 'base64', media_type: mediaType, data }
  }
  if (given instanceof Uint8Array) return { type: 'base64', media_type: mediaType, data: base64Of(given) }
  if (given instanceof ArrayBuffer) return sourceOf(new Uint8Array(given), mediaType)
  if (!isObject(given)) return { type: 'unknown' }
  if (given.type === 'text') return { type: 'text', data: String(given.text) }
  if (given.type === 'data') return sourceOf(given.data, mediaType)
  if (given.type === 'url') return sourceOf(given.url, mediaType)
  // A URL object has no `type` field.
  const address = stringAt(given, 'href')
  return address === undefined ? { type: 'file', file_id: JSON.stringify(given) } : sourceOf(address, mediaType)
}

/** With `btoa`, which every runtime has. */
function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** Anthropic's provider reads it from the message; other providers ignore it there. */
export function marked(message: AiMessage, mark: JsonObject): AiMessage {
  const anthropic = { ...anthropicOptions(message), cacheControl: mark }
  return { ...message, providerOptions: { ...message.providerOptions, anthropic } }
}

function messageOf(role: AiMessage['role'], blocks: readonly Block[], writing: Writing): readonly AiMessage[] {
  if (blocks.length === 0) return []
  const sources = new Set(blocks.map(writing.originOf))
  const [only] = sources
  // Everything came from one message, so its options still apply.
  const options = sources.size === 1 && only?.role === role ? only.providerOptions : undefined
  const content = blocks.flatMap((block) => partOf(block, writing))
  return [{ role, content, ...(options === undefined ? {} : { providerOptions: options }) }]
}

function partOf(block: Block, writing: Writing): readonly Part[] {
  const before = writing.originOf(block)
  const read = before ? partsIn(before.content).map((part) => ({ block: blockOf(part, before.role), part })) : []
  return writeParts([block], read, (_, part) => [makePart(block, part, writing)])
}

function makePart(block: Block, part: Part | undefined, writing: Writing): Part {
  if (isText(block)) return { type: 'text', text: block.text }
  if (isToolResult(block)) {
    const { tool_use_id: id } = block
    const base = part ?? { type: 'tool-result', toolCallId: id, toolName: toolNameOf(id, writing) }
    return { ...base, output: outputOf(block, part, writing) }
  }
  if (isToolUse(block)) {
    if (part) return { ...part, input: block.input }
    return { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input }
  }
  if (isThinking(block)) return reasoningPart(block)
  return isMedia(block) ? filePart(block, writing.files) : { type: 'text', text: JSON.stringify(block) }
}

/** The text, and the files that are still in it as the SDK's own objects. */
function outputOf(block: Block, part: Part | undefined, { files }: Writing): JsonObject {
  const left = Array.isArray(block.content) ? blocksOf(block.content).filter(isMedia) : []
  const text = textOf(block.content)
  if (left.length === 0) return { type: block.is_error === true ? 'error-text' : 'text', value: text }
  const given = partsIn(objectAt(part, 'output')?.value).map((item) => ({ block: itemBlock(item), part: item }))
  const media = writeParts(left, given, (item) => [filePart(item, files)])
  return { type: 'content', value: [{ type: 'text', text }, ...media] }
}

/** A result names its tool, but ours names only the call. */
function toolNameOf(id: string, { originOf }: Writing): string {
  const answer = originOf({ type: 'tool_use', id, name: '', input: {} })
  const call = partsIn(answer?.content).find(({ toolCallId }) => toolCallId === id)
  return stringAt(call, 'toolName') ?? 'unknown'
}

function reasoningPart(block: Block): Part {
  const options = block.type === 'thinking' ? { signature: block.signature } : { redactedData: block.data }
  return { type: 'reasoning', text: stringAt(block, 'thinking') ?? '', providerOptions: { anthropic: options } }
}

function filePart(block: Block, files: FileShape): Part {
  const source = objectAt(block, 'source')
  const address = stringAt(source, 'url')
  const url = address === undefined ? undefined : new URL(address)
  const mediaType = stringAt(source, 'media_type') ?? (block.type === 'image' ? 'image/*' : 'application/pdf')
  const data = stringAt(source, 'data') ?? ''
  if (files === 'bare') return { type: 'file', mediaType, data: url ?? data }
  return { type: 'file', mediaType, data: url ? { type: 'url', url } : { type: 'data', data } }
}

/** Usage of a language model (v3, v4: counts in groups; v2: flat), or of a step of `generateText`. Many fields may be missing. */
export function usageOf(usage: unknown): TokenCounts | undefined {
  const input = objectAt(usage, 'inputTokens') ?? objectAt(usage, 'inputTokenDetails')
  const total = numberAt(objectAt(usage, 'inputTokens'), 'total') ?? numberAt(usage, 'inputTokens')
  const output = numberAt(objectAt(usage, 'outputTokens'), 'total') ?? numberAt(usage, 'outputTokens')
  if (total === undefined && output === undefined) return undefined
  const cacheRead =
    numberAt(input, 'cacheRead') ?? numberAt(input, 'cacheReadTokens') ?? numberAt(usage, 'cachedInputTokens') ?? 0
  const cacheWrite = numberAt(input, 'cacheWrite') ?? numberAt(input, 'cacheWriteTokens') ?? 0
  const plain = numberAt(input, 'noCache') ?? numberAt(input, 'noCacheTokens') ?? (total ?? 0) - cacheRead - cacheWrite
  return { input: Math.max(0, plain), output: output ?? 0, cacheRead, cacheWrite, cacheWriteHour: 0 }
}
