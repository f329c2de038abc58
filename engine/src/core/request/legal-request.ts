// A request as the Messages API accepts it, whatever hosts, tools and other providers put into its messages. The session
// keeps the originals. The same objects where nothing changes.
import { type Block, blocksOf, isToolResult, isToolUse } from '../message/block.ts'
import { defined, isObject, type JsonObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import { hashText } from '../text/hash.ts'
import { neutralizeFrames } from '../text/neutralize.ts'
import { withLegalMarks } from './cache-marks.ts'
import { legalFields } from './legal-blocks.ts'

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

type Accepted = {
  /** Names of the tools in the request: calls of them keep their names. */
  readonly offered?: ReadonlySet<unknown>
  /** Without the beta of a compaction, the API does not know the blocks that it left. */
  readonly takesCompactions?: boolean
}

export function legalMessages(
  messages: readonly Message[],
  { offered = new Set(), takesCompactions = false }: Accepted = {},
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
/** Enough to recognize an id in a log. */
const maxReadable = 40

/**
 * Calls of other providers: ids such as `call_a|fc_b`, names such as `functions.Read`, inputs that are not objects. Depends on
 * the call alone, so that a message keeps its place in the cache. The same object if it is legal.
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

/** The readable part of the original, then its hash, which keeps `a.b` and `a:b` apart. */
function legalIdFor(id: string): string {
  if (legalId.test(id)) return id
  const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxReadable)
  return `${readable}-${hashText(id).toString(36)}`
}

/** Two tools may get the same name: it only has to remind the model of the tool that it called. */
function legalName(name: unknown, offered: ReadonlySet<unknown>): string {
  if (typeof name === 'string' && offered.has(name)) return name
  const readable = String(name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_')
  return readable.slice(0, maxName) || 'unknown'
}

/** Context edits that name tools, with the names that the calls in the request have. */
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

/** Fits the types of the official SDK without a cast. It names the common blocks; others pass through. */
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
