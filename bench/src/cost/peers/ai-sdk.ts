// The AI SDK's pruneMessages, its own code, called as its documentation shows: in prepareStep, once the messages are longer
// than 100,000 tokens by length / 4. What it returns carries forward.
import { type ModelMessage, pruneMessages } from 'ai'
import {
  type Block,
  blocksOf,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type Message,
  repairRequest,
  textOf,
} from 'everlong'
import { byList, sizeOf } from '../by-list.ts'

const longest = 100_000 * 4

/** Each part carries the block it stands for; pruning takes parts away and leaves the others as they are. */
type Carrying = { readonly everlong: Block }

function partOf(block: Block): Carrying & { readonly type: string } {
  const everlong = block
  if (isText(block)) return { type: 'text', text: block.text, everlong } as Carrying & { type: string }
  if (isThinking(block)) return { type: 'reasoning', text: '', everlong } as Carrying & { type: string }
  if (isToolUse(block)) {
    const { id: toolCallId, name: toolName, input } = block
    return { type: 'tool-call', toolCallId, toolName, input, everlong } as Carrying & { type: string }
  }
  if (isToolResult(block)) {
    const output = { type: 'text', value: textOf(block.content) }
    const call = { toolCallId: block.tool_use_id, toolName: '' }
    return { type: 'tool-result', ...call, output, everlong } as Carrying & { type: string }
  }
  return { type: 'file', everlong }
}

function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.flatMap(({ role, content }) => {
    const blocks = blocksOf(content)
    const results = role === 'user' ? blocks.filter(isToolResult) : []
    const rest = blocks.filter((block) => !results.includes(block as never))
    return [
      ...(results.length > 0 ? [{ role: 'tool', content: results.map(partOf) }] : []),
      ...(rest.length > 0 ? [{ role, content: rest.map(partOf) }] : []),
    ] as unknown as ModelMessage[]
  })
}

function fromModelMessages(messages: readonly ModelMessage[]): readonly Message[] {
  const back = messages.map(({ role, content }): Message => {
    const parts = content as unknown as readonly Carrying[]
    return { role: role === 'assistant' ? 'assistant' : 'user', content: parts.map(({ everlong }) => everlong) }
  })
  // The provider's package merges neighbours of one role; this does the same.
  return repairRequest(back).messages
}

export const aiSdk = byList({
  name: 'pruneMessages at 100,000',
  who: 'AI SDK',
  keep: (messages, { port }) => {
    if (messages.reduce((sum, message) => sum + sizeOf(message), 0) <= longest) return messages
    port.note('clearing')
    const pruned = pruneMessages({
      messages: toModelMessages(messages),
      reasoning: 'before-last-message',
      toolCalls: 'before-last-2-messages',
      emptyMessages: 'remove',
    })
    return fromModelMessages(pruned)
  },
})
