// Messages of the AI SDK, as far as they are looked at, read into ours. A prompt of a language model (specification v2 to v4)
// and the model messages of `generateText` differ in details only, and parts that are not known must pass through, so all of
// them are read as plain objects.
import type { Block } from '../../core/message/block.ts'
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import type { TokenCounts } from '../../core/message/usage.ts'
import type { Converted } from '../history/converter.ts'
import { textBlock } from '../parts.ts'

export type Part = JsonObject & { readonly type: string }

export type AiMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly Part[]
  readonly providerOptions?: JsonObject
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

/** Where Anthropic's provider keeps what the API needs back: signatures, redacted thinking. */
export function anthropicOptions(part: unknown): JsonObject | undefined {
  return objectAt(objectAt(part, 'providerOptions'), 'anthropic')
}

export function readMessage({ role, content }: AiMessage): Converted {
  const blocks = partsIn(content).map((part) => blockOf(part, role))
  // Only what the user wrote is a person's word: approvals and notes in between are the client's.
  const origin = role === 'system' || role === 'tool' ? ({ origin: 'meta' } as const) : {}
  return { role: role === 'assistant' ? 'assistant' : 'user', content: blocks, ...origin }
}

/** What is not known becomes text. */
export function blockOf(part: Part, role: AiMessage['role']): Block {
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
      // What the provider executed lies within the answer, in a shape of its own.
      if (id === undefined || name === undefined || part.providerExecuted === true) break
      return { type: 'tool_use', id, name, input: part.input }
    case 'tool-result':
      if (id === undefined || role !== 'tool') break
      return resultBlock(part, id)
  }
  return unknownBlock(part)
}

/**
 * Thinking counts as signed whatever the provider: only Anthropic's has a signature of that name, and others need theirs
 * back just as well.
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

/** An item of a result: text, a file by one of its many names, or something of the provider's. */
export function itemBlock(item: Part): Block {
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

/** A file, whose size is estimated from it. Its data comes as bytes, base64, a URL, or a reference that the provider holds. */
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
  // A URL object has no type of its own.
  const address = stringAt(given, 'href')
  return address === undefined ? { type: 'file', file_id: JSON.stringify(given) } : sourceOf(address, mediaType)
}

/** With `btoa`, which every runtime has. */
function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** Usage of a language model (v3, v4: counts in groups; v2: flat), or of a step of `generateText`. Much may be left out. */
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
