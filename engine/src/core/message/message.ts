// The data model: content blocks as the Messages API has them (any object with a type is a block; unknown kinds pass through),
// messages as the next request would carry them, what each came from, and which tool result belongs to which call.

import { isObject, type JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

export type Block = JsonObject & { readonly type: string }
export type TextBlock = Block & { readonly type: 'text'; readonly text: string }
export type ThinkingBlock = Block & {
  readonly type: 'thinking'
  readonly thinking: string
  readonly signature?: string
}
export type RedactedThinkingBlock = Block & { readonly type: 'redacted_thinking' }
export type ToolUseBlock = Block & {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: unknown
}
export type ToolResultBlock = Block & {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: string | readonly Block[]
  readonly is_error?: boolean
}
export type MediaBlock = Block & { readonly type: 'image' | 'document' }

export type Content = string | readonly Block[]

export function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value.type === 'string'
}

export function isText(block: Block): block is TextBlock {
  return block.type === 'text' && typeof block.text === 'string'
}

/** True for empty or white text, which the API refuses, also inside a tool result. */
export function isBlank(block: Block): boolean {
  return block.type === 'text' && (typeof block.text !== 'string' || block.text.trim() === '')
}

export function isThinking(block: Block): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

export function isToolUse(block: Block): block is ToolUseBlock {
  return block.type === 'tool_use' && typeof block.id === 'string'
}

export function isToolResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool_result' && typeof block.tool_use_id === 'string'
}

export function isMedia(block: Block): block is MediaBlock {
  return block.type === 'image' || block.type === 'document'
}

/** A string counts as one text block. Drops anything that is not a block. */
export function blocksOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content } satisfies TextBlock]
  if (!Array.isArray(content)) return []
  // Returns the same list in the common case, because this runs for every message many times.
  for (let index = 0; index < content.length; index++) if (!isBlock(content[index])) return content.filter(isBlock)
  return content
}

/** A rough length in characters: the text of blocks and results, plus a few for any other block. */
export function lengthOf(content: unknown): number {
  if (typeof content === 'string') return content.length
  return blocksOf(content).reduce((sum, block) => {
    if (isText(block)) return sum + block.text.length
    return sum + (isToolResult(block) ? lengthOf(block.content) : otherLength)
  }, 0)
}

const otherLength = 200

/** Joins text blocks with newlines and includes the text of tool results. */
export function textOf(content: unknown): string {
  const parts: string[] = []
  for (const block of blocksOf(content)) {
    if (isText(block)) parts.push(block.text)
    else if (isToolResult(block)) parts.push(textOf(block.content))
  }
  return parts.filter((part) => part !== '').join('\n')
}

export type Role = 'user' | 'assistant'

/** Who put a message into the conversation. */
export type Origin =
  | 'human' // typed by a person
  | 'agent' // asked of a sub-agent by the agent that started it
  | 'assistant'
  | 'tool-result'
  | 'summary' // written by a compaction
  | 'attachment' // context the client injected as an attachment record
  | 'meta' // any other text the client injected: command output, caveats, reminders

/** True if the message asks for work. In the conversation of a sub-agent, requests come from another agent. */
export function isRequest(origin: Origin): boolean {
  return origin === 'human' || origin === 'agent'
}

export type Message = {
  readonly role: Role
  readonly content: Content
}

export type ViewMessage = Message & {
  readonly origin: Origin
  readonly uuid?: string
  /** Milliseconds since 1970. Absent if the record has no readable timestamp. */
  readonly time?: number
  /** The API's id. Messages that share it are parts of one answer. */
  readonly messageId?: string
  readonly model?: string
  /** Usage that the API reported. Absent on synthetic messages, whose zeros mean nothing. */
  readonly usage?: Usage
  readonly attachment?: string
}

export type BlockPlace = { readonly message: number; readonly block: number }

export type Pair = {
  readonly id: string
  /** The result of a server tool is in the same answer; the result of a client tool is in the next message. */
  readonly tool: 'client' | 'server'
  readonly uses: readonly BlockPlace[]
  readonly results: readonly BlockPlace[]
}

export type PairHalf = { readonly tool: Pair['tool']; readonly half: 'use' | 'result'; readonly id: string }

export function pairHalfOf(block: Block): PairHalf | undefined {
  if (isToolUse(block)) return { tool: 'client', half: 'use', id: block.id }
  if (isToolResult(block)) return { tool: 'client', half: 'result', id: block.tool_use_id }
  // server_tool_use, mcp_tool_use …; web_search_tool_result, advisor_tool_result, mcp_tool_result …
  if (block.type.endsWith('_tool_use') && typeof block.id === 'string') {
    return { tool: 'server', half: 'use', id: block.id }
  }
  if (block.type.endsWith('_tool_result') && typeof block.tool_use_id === 'string') {
    return { tool: 'server', half: 'result', id: block.tool_use_id }
  }
  return undefined
}

/** Pairs by id, ordered by first block. Pairs of server tools come last. */
export function pairsOf(messages: readonly Message[]): readonly Pair[] {
  const pairs = { client: new Map<string, GrowingPair>(), server: new Map<string, GrowingPair>() }
  for (const [message, { content }] of messages.entries()) {
    if (typeof content === 'string') continue
    for (const [block, item] of blocksOf(content).entries()) {
      const half = pairHalfOf(item)
      if (!half) continue
      const { tool, id } = half
      const pair = pairs[tool].get(id) ?? { id, tool, uses: [], results: [] }
      if (pair.uses.length + pair.results.length === 0) pairs[tool].set(id, pair)
      pair[half.half === 'use' ? 'uses' : 'results'].push({ message, block })
    }
  }
  return [...pairs.client.values(), ...pairs.server.values()]
}

type GrowingPair = Pair & { readonly uses: BlockPlace[]; readonly results: BlockPlace[] }
