// What edits do to the contents of one message: results, inputs and thinking that are cleared. Originals stay as they
// are; a message that nothing was cleared from comes back itself.
import {
  type Block,
  blocksOf,
  type Content,
  isMedia,
  isThinking,
  isToolResult,
  isToolUse,
  type ToolUseBlock,
} from '../message/block.ts'
import { isObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { clearedText } from './messages.ts'

/** The text in the place of a cleared result; with recall on, it says how to get the original. */
export function clearedResult(toolUseId: string, hasRecall: boolean): string {
  return hasRecall ? `${clearedText} Recall it by its id: ${toolUseId}` : clearedText
}

const clearedInput = '[Old tool input cleared]'
/** Shorter texts of an input say what was done (a path, a pattern) and cost next to nothing. */
const shortInput = 200

export function withoutInputs(message: ViewMessage, isCleared: (toolUseId: string) => boolean): ViewMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  if (!message.content.some((block) => isToolUse(block) && isCleared(block.id))) return message
  const content = message.content.map((block) =>
    isToolUse(block) && isCleared(block.id) ? withoutInput(block) : block,
  )
  return { ...message, content }
}

export function withoutInput(call: ToolUseBlock): ToolUseBlock {
  return { ...call, input: shortened(call.input) }
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > shortInput ? clearedInput : value
  if (Array.isArray(value)) return JSON.stringify(value).length > shortInput ? [clearedInput] : value
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]))
  return value
}

/** Undefined when nothing but thinking was there. */
export function withoutThinking(message: ViewMessage): ViewMessage | undefined {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  if (!message.content.some(isThinking)) return message
  const content = blocksOf(message.content).filter((block) => !isThinking(block))
  return content.length === 0 ? undefined : { ...message, content }
}

/** Images and documents, also inside results. */
export function mediaIn(content: Content): number {
  if (typeof content === 'string') return 0
  return content.reduce((sum, block) => {
    return sum + (isToolResult(block) ? mediaIn(blocksOf(block.content)) : Number(isMedia(block)))
  }, 0)
}

/** `[image]`, `[document]`: what was there, and no more. The last `keep` of them stay. */
export function withoutMedia(message: ViewMessage, keep = 0): ViewMessage {
  let going = mediaIn(message.content) - keep
  if (typeof message.content === 'string' || going <= 0) return message
  const asText = (block: Block): Block => {
    if (isMedia(block)) return going-- > 0 ? { type: 'text', text: `[${block.type}]` } : block
    if (!isToolResult(block) || mediaIn(blocksOf(block.content)) === 0) return block
    return { ...block, content: blocksOf(block.content).map(asText) }
  }
  return { ...message, content: message.content.map(asText) }
}
