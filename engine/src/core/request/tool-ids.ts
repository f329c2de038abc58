// Makes calls legal for the Messages API. Other providers allow ids such as `call_a|fc_b`, and inputs that are no objects.

import { type Block, blocksOf, isToolResult, isToolUse, type ToolUseBlock } from '../message/block.ts'
import { isObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import { hashText } from '../text/hash.ts'

const legalId = /^[a-zA-Z0-9_-]+$/
const longestName = 200
/** Enough to recognize an id in a log. */
const longestReadable = 40

/** Depends on the id alone, so that a message keeps its place in the cache. The same array if nothing changes. */
export function withLegalCalls(messages: readonly Message[]): readonly Message[] {
  let isChanged = false
  const legal = messages.map((message) => {
    const { content } = message
    if (typeof content === 'string' || !content.some(needsChange)) return message
    isChanged = true
    return { ...message, content: content.map(legalBlock) }
  })
  return isChanged ? legal : messages
}

function needsChange(block: Block): boolean {
  if (isToolUse(block)) return !legalId.test(block.id) || !isLegalCall(block)
  if (isToolResult(block)) return !legalId.test(block.tool_use_id)
  return (
    block.type === 'cache_edits' && blocksOf(block.edits).some((edit) => !legalId.test(String(edit.cache_reference)))
  )
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
  if (isToolUse(block)) {
    const { input } = block
    const name = String(block.name || 'unknown').slice(0, longestName)
    return { ...block, name, input: isObject(input) ? input : { input: input ?? null }, id: legalIdFor(block.id) }
  }
  if (isToolResult(block)) return { ...block, tool_use_id: legalIdFor(block.tool_use_id) }
  if (block.type !== 'cache_edits') return block
  const legal = (edit: Block) => ({ ...edit, cache_reference: legalIdFor(String(edit.cache_reference)) })
  return { ...block, edits: blocksOf(block.edits).map(legal) }
}
