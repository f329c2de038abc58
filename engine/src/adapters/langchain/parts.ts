// Content parts of LangChain: its own standard blocks, those of the Messages API, those of chat completions.
import { type Block, isText } from '../../core/message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { describedPart, documentAt, imageAt, textBlock, urlOf } from '../parts.ts'

const callParts = new Set(['tool_use', 'tool_call', 'tool_call_chunk', 'input_json_delta', 'function_call'])

/** Some providers tell a call twice: in `tool_calls`, which counts, and in the content. */
export function isCallPart(part: unknown): boolean {
  return callParts.has(stringAt(part, 'type') ?? '')
}

/** Reasoning that only its own provider can read: it stays with its message and is no block of ours. */
export function isSilentPart(part: unknown): boolean {
  const type = stringAt(part, 'type')
  return type === 'reasoning' || (type === 'thinking' && !stringAt(part, 'signature'))
}

/** A block that every API of ours takes; what none of them knows is described in words. */
export function blockOf(part: JsonObject): Block {
  const type = stringAt(part, 'type') ?? 'part'
  const text = stringAt(part, 'text')
  if ((type === 'text' || type === 'text_delta') && text !== undefined) return textBlock(text)
  if (isApiBlock(part)) return withoutIndex(part)
  return mediaOf(part, type) ?? describedPart(type, part)
}

/** Blocks of the Messages API that providers leave in the content as they came. */
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

/** Streams leave a block's number on it, which the API refuses. */
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
export function partOf(block: Block): JsonObject {
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
