// Conversations in the AI SDK's shape, and its pruneMessages as its documentation calls it.
import { type ModelMessage, pruneMessages } from 'ai'
import type { Block, Message } from 'everlong'
import { blocksOf, isText, isThinking, isToolResult, isToolUse, repairRequest, textOf } from 'everlong/internal'
import { originOf, standingFor } from './origins.ts'

export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.flatMap(({ role, content }) => {
    const blocks = blocksOf(content)
    const results = role === 'user' ? blocks.filter(isToolResult) : []
    const rest = role === 'user' ? blocks.filter((block) => !isToolResult(block)) : blocks
    return [
      ...(results.length > 0 ? [{ role: 'tool', content: results.map(partOf) }] : []),
      ...(rest.length > 0 ? [{ role, content: rest.map(partOf) }] : []),
    ] as unknown as ModelMessage[]
  })
}

/** What is left of them. The provider's package merges neighbours of one role, and so does this. */
export function fromModelMessages(messages: readonly ModelMessage[]): readonly Message[] {
  const back = messages.map(({ role, content }): Message => {
    const parts = content as unknown as readonly object[]
    return { role: role === 'assistant' ? 'assistant' : 'user', content: parts.flatMap((part) => originOf(part) ?? []) }
  })
  return repairRequest(back).messages
}

function partOf(block: Block): object {
  return standingFor(shaped(block), [block])
}

function shaped(block: Block): object {
  if (isText(block)) return { type: 'text', text: block.text }
  if (isThinking(block)) return { type: 'reasoning', text: String(block.thinking ?? '') }
  if (isToolUse(block)) return { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input }
  if (isToolResult(block)) {
    const output = { type: 'text', value: textOf(block.content) }
    return { type: 'tool-result', toolCallId: block.tool_use_id, toolName: '', output }
  }
  return { type: 'file', data: '', mediaType: 'image/png' }
}

/** Removes calls and results before the last N messages: two in its documentation. */
export function prune(messages: readonly ModelMessage[], keep = 2): readonly ModelMessage[] {
  return pruneMessages({
    messages: [...messages],
    reasoning: 'before-last-message',
    toolCalls: `before-last-${keep}-messages`,
    emptyMessages: 'remove',
  })
}
