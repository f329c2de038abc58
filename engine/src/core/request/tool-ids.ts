// Calls as the Messages API takes them. Other providers allow more: ids such as `functions.Read:0` or `call_a|fc_b`,
// inputs that are no objects, calls without a name. Only the request is changed; the transcript keeps the original.

import { type Block, blocksOf, isToolResult, isToolUse, type ToolUseBlock } from '../message/block.ts'
import { isObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import { hashText } from '../text/hash.ts'

const legalId = /^[a-zA-Z0-9_-]+$/
const longestName = 200
/** Enough to recognize an id in a log. */
const longestReadable = 40

/**
 * A call and its result get the same id, and different ids stay different. What an id becomes depends on that id alone,
 * so a message keeps its form, and its place in the cache, whatever is added later. Returns the array it was given when
 * nothing has to change.
 */
export function withLegalCalls(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ content }) => typeof content !== 'string' && content.some(needsChange))) return messages
  return messages.map((message) => {
    const { content } = message
    if (typeof content === 'string' || !content.some(needsChange)) return message
    return { ...message, content: content.map(legalBlock) }
  })
}

/** Ids by which a block names calls: its own, the one it answers, those it asks the cache to drop. */
function idsIn(block: Block): readonly string[] {
  if (isToolUse(block)) return [block.id]
  if (isToolResult(block)) return [block.tool_use_id]
  return block.type === 'cache_edits' ? cacheEdits(block).map(({ cache_reference }) => String(cache_reference)) : []
}

function cacheEdits(block: Block): readonly Block[] {
  return blocksOf(block.edits)
}

function needsChange(block: Block): boolean {
  return idsIn(block).some((id) => !legalId.test(id)) || (isToolUse(block) && !isLegalCall(block))
}

function isLegalCall({ name, input }: ToolUseBlock): boolean {
  return typeof name === 'string' && name !== '' && name.length <= longestName && isObject(input)
}

/** The readable part of the original, then its hash, which keeps `a.b` and `a:b` apart. */
function legalIdFor(id: string): string {
  if (legalId.test(id)) return id
  const readable = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, longestReadable)
  return `${readable}-${hashText(id).toString(36)}`
}

function legalBlock(block: Block): Block {
  if (isToolUse(block)) return { ...legalCall(block), id: legalIdFor(block.id) }
  if (isToolResult(block)) return { ...block, tool_use_id: legalIdFor(block.tool_use_id) }
  if (block.type !== 'cache_edits') return block
  const edits = cacheEdits(block).map((edit) => ({
    ...edit,
    cache_reference: legalIdFor(String(edit.cache_reference)),
  }))
  return { ...block, edits }
}

function legalCall(call: ToolUseBlock): ToolUseBlock {
  if (isLegalCall(call)) return call
  const name = String(call.name || 'unknown').slice(0, longestName)
  return { ...call, name, input: isObject(call.input) ? call.input : { input: call.input ?? null } }
}
