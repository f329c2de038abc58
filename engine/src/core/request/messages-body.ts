// A request in types that fit the official SDK without a cast. They name the common blocks; others pass through.
import { type Block, blocksOf, isToolResult, isToolUse } from '../message/block.ts'
import { isObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import { hashText } from '../text/hash.ts'

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
  const { model, system, tools, messages, thinking, options } = request
  return {
    ...options,
    model,
    max_tokens: request.maxTokens ?? maxTokens,
    ...(system === undefined ? {} : { system: system as string | TextParam[] }),
    ...(tools === undefined ? {} : { tools: tools as unknown as ToolParam[] }),
    messages: withLegalCalls(messages) as readonly unknown[] as MessagesBody['messages'],
    ...(thinking === undefined ? {} : { thinking: thinking as NonNullable<MessagesBody['thinking']> }),
  }
}

const legalId = /^[a-zA-Z0-9_-]+$/
const longestName = 200
/** Enough to recognize an id in a log. */
const longestReadable = 40

/**
 * Makes calls legal for the Messages API: other providers allow ids such as `call_a|fc_b`, and inputs that are no objects.
 * Depends on the call alone, so that a message keeps its place in the cache. The same array if nothing changes.
 */
export function withLegalCalls(messages: readonly Message[]): readonly Message[] {
  const legal = messages.map((message) => {
    const { content } = message
    if (typeof content === 'string') return message
    const blocks = content.map(legalBlock)
    return blocks.every((block, at) => block === content[at]) ? message : { ...message, content: blocks }
  })
  return legal.every((message, at) => message === messages[at]) ? messages : legal
}

/** The same object if it is legal. */
function legalBlock(block: Block): Block {
  if (isToolUse(block)) {
    const { id, name, input } = block
    const isLegal = typeof name === 'string' && name !== '' && name.length <= longestName && isObject(input)
    if (isLegal && legalId.test(id)) return block
    const legalName = String(name || 'unknown').slice(0, longestName)
    return {
      ...block,
      name: legalName,
      input: isObject(input) ? input : { input: input ?? null },
      id: legalIdFor(id),
    }
  }
  if (isToolResult(block)) {
    const { tool_use_id: id } = block
    return legalId.test(id) ? block : { ...block, tool_use_id: legalIdFor(id) }
  }
  if (block.type !== 'cache_edits') return block
  const legal = (edit: Block) => ({ ...edit, cache_reference: legalIdFor(String(edit.cache_reference)) })
  return { ...block, edits: blocksOf(block.edits).map(legal) }
}

/** The readable part of the original, then its hash, which keeps `a.b` and `a:b` apart. */
function legalIdFor(id: string): string {
  if (legalId.test(id)) return id
  const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, longestReadable)
  return `${readable}-${hashText(id).toString(36)}`
}
