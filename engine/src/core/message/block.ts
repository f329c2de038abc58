// Content blocks as the Messages API has them. Any object with a type is a block; unknown kinds pass through.
import { isObject, type JsonObject } from './json.ts'

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
