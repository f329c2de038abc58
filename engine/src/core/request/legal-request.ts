// Builds a request that the Messages API accepts, whatever hosts, tools and other providers put into its messages. The session
// keeps the originals. Returns the same objects where nothing changes. Used only where a body of the Messages API is made,
// because other APIs have other rules.

import { defined, isObject, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import {
  type Block,
  blocksOf,
  isBlock,
  isMedia,
  isText,
  isToolResult,
  isToolUse,
  type Message,
  type Role,
} from '../message/message.ts'
import { described } from '../message/readable.ts'
import type { ModelRequest } from '../ports/model.ts'
import { hashText } from '../text/hash.ts'
import { neutralize, neutralizeFrames, neutralizePiece } from '../text/neutralize.ts'
import { withLegalMarks } from './cache-marks.ts'

export function legalRequest(request: ModelRequest): ModelRequest {
  const { betas = [], messages, options, tools = [] } = request
  const offered = new Set(tools.map(({ name }) => name))
  const takesCompactions = betas.some((beta) => beta.startsWith('compact-'))
  const legal = {
    messages: legalMessages(messages, { offered, takesCompactions }),
    options: withLegalNames(options, offered),
  }
  const isSame = legal.messages === messages && legal.options === options
  return withLegalMarks(isSame ? request : { ...request, ...defined(legal) })
}

type LegalOptions = {
  /** Names of the tools in the request. Calls of these tools keep their names. */
  readonly offered?: ReadonlySet<unknown>
  /** Whether the request sends the compaction beta. Without it, the API rejects the blocks of a compaction. */
  readonly takesCompactions?: boolean
}

export function legalMessages(
  messages: readonly Message[],
  { offered = new Set(), takesCompactions = false }: LegalOptions = {},
): readonly Message[] {
  const legal = messages.map((message) => {
    const { role, content } = message
    if (typeof content === 'string') return message
    const blocks = content.map((block) => {
      if (block.type === 'compaction' && !takesCompactions) return compactionText(block)
      return legalCall(legalFields(block, role), offered)
    })
    return blocks.every((block, at) => block === content[at]) ? message : { ...message, content: blocks }
  })
  return legal.every((message, at) => message === messages[at]) ? messages : legal
}

function compactionText({ content, cache_control: mark }: Block): Block {
  const summary = typeof content === 'string' && content !== '' ? content : undefined
  const text = summary === undefined ? '[Summary by the server, without text]' : `[Summary by the server]\n${summary}`
  return { type: 'text', text: neutralizeFrames(text), ...(isObject(mark) ? { cache_control: mark } : {}) }
}

const legalId = /^[a-zA-Z0-9_-]+$/
const maxName = 128
/** Long enough to recognize an id in a log. */
const maxReadable = 40

/**
 * Fixes calls of other providers: ids such as `call_a|fc_b`, names such as `functions.Read`, inputs that are not objects. Depends
 * only on the call, so the message keeps its place in the cache. Returns the same object if it is legal.
 */
function legalCall(block: Block, offered: ReadonlySet<unknown>): Block {
  if (isToolUse(block)) {
    const name = legalName(block.name, offered)
    const id = legalIdFor(block.id)
    if (name === block.name && id === block.id && isObject(block.input)) return block
    return { ...block, id, name, input: isObject(block.input) ? block.input : { input: block.input ?? null } }
  }
  if (isToolResult(block)) {
    const id = legalIdFor(block.tool_use_id)
    return id === block.tool_use_id ? block : { ...block, tool_use_id: id }
  }
  if (block.type !== 'cache_edits') return block
  const legal = (edit: Block) => ({ ...edit, cache_reference: legalIdFor(String(edit.cache_reference)) })
  return { ...block, edits: blocksOf(block.edits).map(legal) }
}

/** The readable part of the original and a hash, so that `a.b` and `a:b` stay different. */
function legalIdFor(id: string): string {
  if (legalId.test(id)) return id
  const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxReadable)
  return `${readable}-${hashText(id).toString(36)}`
}

/** Two tools may get the same name. The name only reminds the model which tool it called. */
function legalName(name: unknown, offered: ReadonlySet<unknown>): string {
  if (typeof name === 'string' && offered.has(name)) return name
  const readable = String(name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_')
  return readable.slice(0, maxName) || 'unknown'
}

/** Renames tools in context edits to the names that the calls in the request have. */
function withLegalNames(options: JsonObject | undefined, offered: ReadonlySet<unknown>): JsonObject | undefined {
  const management = options?.context_management
  if (!isObject(management) || !Array.isArray(management.edits)) return options
  const legal = (names: unknown) =>
    Array.isArray(names) ? [...new Set(names.map((name) => legalName(name, offered)))] : undefined
  const edits = management.edits.map((edit: unknown) => {
    if (!isObject(edit)) return edit
    const [exclude_tools, clear_tool_inputs] = [legal(edit.exclude_tools), legal(edit.clear_tool_inputs)]
    return { ...edit, ...defined({ exclude_tools, clear_tool_inputs }) }
  })
  return { ...options, context_management: { ...management, edits } }
}

type CacheControl = { type: 'ephemeral'; ttl?: '5m' | '1h' }
type Marked = { cache_control?: CacheControl }
type TextParam = Marked & { type: 'text'; text: string }
type ImageParam = Marked & {
  type: 'image'
  source:
    | { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
    | { type: 'url'; url: string }
}
type DocumentParam = Marked & {
  type: 'document'
  source: { type: 'base64'; media_type: 'application/pdf'; data: string } | { type: 'url'; url: string }
  title?: string
}
type ThinkingParam =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
type ToolUseParam = Marked & { type: 'tool_use'; id: string; name: string; input: unknown }
type ToolResultParam = Marked & {
  type: 'tool_result'
  tool_use_id: string
  content?: string | (TextParam | ImageParam)[]
  is_error?: boolean
}
type BlockParam = TextParam | ImageParam | DocumentParam | ThinkingParam | ToolUseParam | ToolResultParam
type ToolParam = Marked & {
  name: string
  description?: string
  input_schema: { type: 'object'; properties?: unknown; required?: string[]; [key: string]: unknown }
}

/** Fits the types of the official SDK without a cast. Names the common blocks; other blocks pass through. */
export type MessagesBody = {
  model: string
  max_tokens: number
  messages: { role: 'user' | 'assistant'; content: string | BlockParam[] }[]
  system?: string | TextParam[]
  tools?: ToolParam[]
  thinking?: { type: 'enabled'; budget_tokens: number } | { type: 'disabled' }
}

/** For clients that are not ours. */
export function messagesBody(request: ModelRequest, maxTokens: number): MessagesBody {
  const { model, system, tools, messages, thinking, options } = legalRequest(request)
  return {
    ...options,
    model,
    max_tokens: request.maxTokens ?? maxTokens,
    ...(system === undefined ? {} : { system: system as string | TextParam[] }),
    ...(tools === undefined ? {} : { tools: tools as unknown as ToolParam[] }),
    messages: messages as readonly unknown[] as MessagesBody['messages'],
    ...(thinking === undefined ? {} : { thinking: thinking as NonNullable<MessagesBody['thinking']> }),
  }
}

const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'cache_control', 'citations'],
  image: ['source', 'cache_control', 'transformations'],
  document: ['source', 'title', 'context', 'citations', 'cache_control'],
  tool_use: ['id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error', 'cache_control', 'cache_reference'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  compaction: ['content', 'encrypted_content', 'signature', 'tool_changes', 'cache_control'],
  search_result: ['source', 'title', 'content', 'citations', 'cache_control'],
  tool_reference: ['tool_name', 'cache_control'],
  container_upload: ['file_id', 'cache_control'],
}

/** Cleans blocks of known types: fields, kinds of images and documents, failed results. Drops the rest or turns it into text. */
function legalFields(block: Block, role: Role): Block {
  const known = withFields(withLegalMark(block), fieldsOf[block.type])
  if (isMedia(known)) return legalMedia(known)
  if (known.type === 'tool_result') return legalResult(known)
  if (known.type === 'search_result') return legalSearchResult(known)
  if (known.type === 'tool_reference' && (stringAt(known, 'tool_name') ?? '') === '') return asText(known)
  if (known.type === 'container_upload' && (stringAt(known, 'file_id') ?? '') === '') return fileText
  if (known.type === 'compaction' && known.content === '') return { ...known, content: null }
  return isText(known) ? withLegalCitations(known, role) : known
}

const fileText: Block = { type: 'text', text: '[File that was uploaded, without its id]' }

/** Keeps only these fields, because the API refuses unknown ones. */
function withFields<T extends JsonObject>(value: T, fields: readonly string[] | undefined): T {
  if (fields === undefined) return value
  const isKnown = (key: string) => key === 'type' || fields.includes(key)
  const keys = Object.keys(value)
  if (keys.every(isKnown)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => isKnown(key))) as T
}

function without(block: Block, field: string): Block {
  const { [field]: _, ...rest } = block
  return rest as Block
}

function withLegalMark(block: Block): Block {
  const { cache_control: mark } = block
  if (mark === undefined || mark === null) return block
  const ttl = isObject(mark) ? (mark.ttl ?? '5m') : undefined
  if (!isObject(mark) || mark.type !== 'ephemeral' || (ttl !== '5m' && ttl !== '1h'))
    return without(block, 'cache_control')
  const legal = withFields(mark, ['ttl'])
  return legal === mark ? block : { ...block, cache_control: legal }
}

/** Only answers may have citations. */
function withLegalCitations(block: Block, role: Role): Block {
  const { citations } = block
  if (citations === undefined || citations === null) return block
  const isLegal = Array.isArray(citations) && (citations.length === 0 || role === 'assistant')
  return isLegal ? block : without(block, 'citations')
}

function legalResult(result: Block): Block {
  const { content, is_error: error } = result
  const isLegal = error === undefined || error === null || typeof error === 'boolean'
  const shown = isLegal ? result : without(result, 'is_error')
  if (!Array.isArray(content)) return shown
  const parts = content.filter(isBlock).map((part) => {
    const inner = legalFields(part, 'user')
    return error === true && !isText(inner) ? asText(inner) : inner
  })
  const isSame = parts.length === content.length && parts.every((part, at) => part === content[at])
  return isSame ? shown : { ...shown, content: parts }
}

/** A result that reports an error may hold only text. */
function asText(block: Block): Block {
  if (isMedia(block)) return described(block)
  if (block.type === 'search_result') return { type: 'text', text: searchText(block) }
  return { type: 'text', text: neutralize(`[Tool ${JSON.stringify(block.tool_name)}]`) }
}

function legalSearchResult(block: Block): Block {
  const { source, title, content } = block
  const isLegal = typeof source === 'string' && typeof title === 'string' && Array.isArray(content)
  if (isLegal && content.length > 0 && content.every((part) => isBlock(part) && isText(part))) return block
  return { type: 'text', text: searchText(block) }
}

function searchText(block: Block): string {
  const { source, title, content } = block
  const head = [title, source].filter((part) => typeof part === 'string').join(', ')
  const text = blocksOf(content).flatMap((part) => (isText(part) ? [part.text] : []))
  return neutralizePiece([`[Search result: ${head || 'without a title'}]`, ...text].join('\n'))
}

function legalMedia(block: Block): Block {
  const source = objectAt(block, 'source') ?? {}
  const legal = block.type === 'image' ? imageSource(source) : documentSource(source)
  if (legal === source) return block
  return legal === undefined ? described(block) : { ...block, source: legal }
}

/** First bytes of each format in base64. The API compares them with the given media type. */
const imageTypes: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^iVBORw/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGO/],
  ['image/webp', /^UklGR.{6}XRUJQ/],
]

function imageSource(source: JsonObject): JsonObject | undefined {
  const { type } = source
  const url = stringAt(source, 'url') ?? ''
  if (type === 'file') return named(source, 'file_id')
  if (type === 'url' && !url.startsWith('data:')) return named(source, 'url')
  if (type !== 'base64' && type !== 'url') return undefined
  const data = (type === 'url' ? url : (stringAt(source, 'data') ?? '')).replace(/^data:[^,]{0,200},/, '')
  const found = imageTypes.find(([, start]) => start.test(data))
  return found && withExactFields(source, { type: 'base64', media_type: found[0], data })
}

function documentSource(source: JsonObject): JsonObject | undefined {
  const { type, content } = source
  const data = stringAt(source, 'data') ?? ''
  if (type === 'file') return named(source, 'file_id')
  if (type === 'url') return named(source, 'url')
  if (type === 'content') return contentSource(source, content)
  if (type === 'text')
    return data === '' ? undefined : withExactFields(source, { type, media_type: 'text/plain', data })
  const isPdf = type === 'base64' && data.startsWith('JVBERi')
  return isPdf ? withExactFields(source, { type, media_type: 'application/pdf', data }) : undefined
}

function contentSource(source: JsonObject, content: unknown): JsonObject | undefined {
  if (typeof content === 'string')
    return content === '' ? undefined : withExactFields(source, { type: 'content', content })
  const parts = blocksOf(content)
  const legal = parts.map((part) => legalFields(part, 'user')).filter((part) => isText(part) || part.type === 'image')
  if (legal.length === 0) return undefined
  const isSame =
    Array.isArray(content) && legal.length === content.length && legal.every((part, at) => part === parts[at])
  return withExactFields(source, { type: 'content', content: isSame ? content : legal })
}

function named(source: JsonObject, key: string): JsonObject | undefined {
  const value = stringAt(source, key) ?? ''
  return value === '' ? undefined : withExactFields(source, { type: source.type, [key]: value })
}

/** Keeps exactly these fields. Returns the same object if it has no others. */
function withExactFields(source: JsonObject, fields: JsonObject): JsonObject {
  const keys = Object.keys(fields)
  const isSame = Object.keys(source).length === keys.length && keys.every((key) => source[key] === fields[key])
  return isSame ? source : fields
}
