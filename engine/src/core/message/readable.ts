// Turns blocks that no model API accepts into text: blocks of MCP servers, unknown and broken blocks, media from the assistant,
// and results whose content is neither text nor blocks. Text stays whole; data is replaced by a description. The result depends
// only on the block.
import { clipped } from '../text/cut.ts'
import { neutralize, neutralizePiece } from '../text/neutralize.ts'
import { defined, isObject, type JsonObject, objectAt, stringAt } from './json.ts'
import { type Block, isBlock, isMedia, isText, pairHalfOf, type Role, type TextBlock, textOf } from './message.ts'

/** Block types of the Messages API. Calls and results of tools are recognized by their endings, `tool_use` and `tool_result`. */
const known = new Set([
  'text',
  'image',
  'document',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'search_result',
  'container_upload',
  'compaction',
  'fallback',
])
const knownInResults = new Set(['text', 'image', 'document', 'search_result', 'tool_reference'])

/** Returns the same object if an API can accept it. */
export function readableBlock(block: Block, role: Role): Block {
  const { type } = block
  if (isText(block)) return block
  if (type === 'text') return withText(block)
  if (type === 'tool_result') return withReadableContent(block)
  if (isMedia(block)) return role === 'assistant' ? described(block) : readableMedia(block)
  const isOfServer = role === 'assistant' && pairHalfOf(block)?.tool === 'server'
  return known.has(type) || isOfServer ? block : converted(block, role)
}

/** Returns the same array if nothing changes. */
export function readableBlocks(blocks: readonly Block[], role: Role): readonly Block[] {
  const readable = blocks.map((block) => readableBlock(block, role))
  return readable.every((block, at) => block === blocks[at]) ? blocks : readable
}

function withReadableContent(result: Block): Block {
  const { content } = result
  const readable = readableResult(content)
  return readable === content ? result : { ...result, content: readable }
}

/** Tools also return objects, numbers and lists of strings. */
function readableResult(content: unknown): unknown {
  if (content === undefined || typeof content === 'string') return content
  if (content === null) return ''
  if (isBlock(content)) return [partOfResult(content)]
  if (!Array.isArray(content)) return JSON.stringify(content)
  const parts = content.map(partOfResult)
  return parts.every((part, at) => part === content[at]) ? content : parts
}

function partOfResult(part: unknown): Block {
  if (typeof part === 'string') return textBlock(part)
  if (!isBlock(part)) return textBlock(JSON.stringify(part) ?? '')
  if (isText(part)) return part
  if (part.type === 'text') return withText(part)
  if (isMedia(part)) return readableMedia(part)
  if (part.type === 'tool_result') return textBlock(neutralizePiece(textOf(readableResult(part.content))))
  return knownInResults.has(part.type) ? part : converted(part, 'user')
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text }
}

/** Makes the text of a block a string. The repair drops a block without text. */
function withText(block: Block): Block {
  const { text } = block
  return text === undefined || text === null ? block : { ...block, text: JSON.stringify(text) }
}

/** Reads an image or a document that is not empty. MCP servers write the data beside the type. */
function readableMedia(block: Block): Block {
  const source = objectAt(block, 'source')
  if (source && (hasText(source, 'data') || hasText(source, 'url') || hasText(source, 'file_id'))) return block
  const { content } = source ?? {}
  if (source?.type === 'content' && (Array.isArray(content) ? content.length > 0 : hasText(source, 'content')))
    return block
  return mediaBlock(stringAt(block, 'mimeType'), stringAt(block, 'data')) ?? described(block)
}

function hasText(value: JsonObject, key: string): boolean {
  return (stringAt(value, key) ?? '') !== ''
}

/** Converts MCP data to a block of the Messages API if it is an image or a PDF. */
function mediaBlock(mimeType = '', data = ''): Block | undefined {
  const type = mimeType.startsWith('image/') ? 'image' : mimeType === 'application/pdf' ? 'document' : undefined
  if (type === undefined || data === '') return undefined
  return { type, source: { type: 'base64', media_type: mimeType, data } }
}

/** Converts blocks of MCP and unknown blocks. */
function converted(block: Block, role: Role): Block {
  const { type } = block
  const mark = defined({ cache_control: block.cache_control })
  const resource = objectAt(block, 'resource') ?? {}
  const blob = type === 'resource' ? mediaBlock(stringAt(resource, 'mimeType'), stringAt(resource, 'blob')) : undefined
  if (blob && role === 'user') return { ...blob, ...mark }
  return { ...(type === 'resource' ? resourceText(resource) : otherText(block)), ...mark }
}

function resourceText(resource: JsonObject): TextBlock {
  const name = inLine(stringAt(resource, 'uri') ?? 'without a name')
  const text = stringAt(resource, 'text')
  if (text !== undefined) return textBlock(`[Resource ${name}]\n${neutralizePiece(text)}`)
  return textBlock(`[Resource ${name} is left out: ${kindOfData(resource, stringAt(resource, 'blob'))}]`)
}

function otherText(block: Block): TextBlock {
  const { type } = block
  if (type === 'resource_link') {
    const { name, uri, title, description } = block
    const parts = [title ?? name, uri, description].filter((part) => typeof part === 'string' && part !== '')
    return textBlock(`[Link to a resource: ${inLine(parts.join(', '))}]`)
  }
  if (type === 'audio') return textBlock(`[Audio is left out: ${kindOfData(block, stringAt(block, 'data'))}]`)
  const text = stringAt(block, 'text')
  if (text !== undefined && text.trim() !== '')
    return textBlock(`[Block of type ${inLine(type)}]\n${neutralizePiece(text)}`)
  return textBlock(`[Block of type ${inLine(type)}: ${outlineOf(block)}]`)
}

/** Describes media that cannot be sent. */
export function described(block: Block): TextBlock {
  const source = objectAt(block, 'source') ?? block
  const name = block.type === 'image' ? 'Image' : 'Document'
  const place = stringAt(source, 'url') ?? stringAt(block, 'title')
  const data = stringAt(source, 'data')
  const what = place === undefined || data !== undefined ? kindOfData(source, data) : inLine(place)
  return { ...textBlock(`[${name} is left out: ${what}]`), ...defined({ cache_control: block.cache_control }) }
}

function kindOfData(value: JsonObject, data: string | undefined): string {
  const kind = inLine(stringAt(value, 'media_type') ?? stringAt(value, 'mimeType') ?? 'unknown kind')
  return data === undefined || data === '' ? `${kind}, no data` : `${kind}, ${data.length} characters of data`
}

const maxLine = 300
const maxOutline = 500
const maxValue = 80

function inLine(text: string): string {
  return neutralize(clipped(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), maxLine))
}

/** Shows the fields of an unknown block, with long values clipped. */
function outlineOf({ type: _type, cache_control: _mark, ...fields }: Block): string {
  const short = (_key: string, value: unknown) => (typeof value === 'string' ? clipped(value, maxValue) : value)
  const outline = isObject(fields) && Object.keys(fields).length > 0 ? JSON.stringify(fields, short) : 'empty'
  return neutralize(clipped(outline, maxOutline))
}
