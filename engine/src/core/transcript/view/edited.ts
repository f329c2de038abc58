// Applies edits to the content of one message: clears results, inputs, media and thinking. The original is not changed, and a
// message without cleared content is returned as the same object.
import {
  type Block,
  blocksOf,
  type Content,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../message/block.ts'
import { isObject } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import { withoutMiddle } from '../../text/cut.ts'
import { clearedText } from '../format/messages.ts'

/** The text in place of a cleared result; with recall on, it says how to get the original. */
export function clearedResult(toolUseId: string, hasRecall: boolean): string {
  return hasRecall ? `${clearedText} Recall it by its id: ${toolUseId}` : clearedText
}

/** Characters, which leaves room for the line in the middle. */
export const minKept = 1_000
const maxNameLength = 200

/** Start, end, and a line between them that says what is missing and how to read it. Media stay. */
export function shortenedResult(
  { tool_use_id: id, content }: ToolResultBlock,
  { keep, recall }: { readonly keep: number; readonly recall: boolean },
): ToolResultBlock['content'] {
  const blocks = blocksOf(content)
  const text = blocks.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n')
  if (text.length <= Math.max(keep, minKept)) return content
  const name = id.slice(0, maxNameLength)
  const how = recall
    ? `Read the rest a part at a time: recall(${JSON.stringify({ read: name })}).`
    : `Making the same call again gives the same text: ask for a part of it. The transcript has it all: ${JSON.stringify(name)}.`
  const line = `[… This result has ${text.length} characters, too many for the context. The middle is left out. ${how} …]`
  const room = Math.max(keep, minKept) - line.length - 2
  const short = withoutMiddle(text, { most: room, headShare: 0.5, marker: () => `\n${line}\n` })
  if (typeof content === 'string') return short
  return [{ type: 'text', text: short }, ...blocks.filter((block) => !isText(block))]
}

const clearedInput = '[Old tool input cleared]'
/** Characters. Shorter texts of an input say what was done (a path, a pattern) and cost little. */
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

/** Undefined if the message has nothing but thinking. */
export function withoutThinking(message: ViewMessage): ViewMessage | undefined {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  if (!message.content.some(isThinking)) return message
  const content = blocksOf(message.content).filter((block) => !isThinking(block))
  return content.length === 0 ? undefined : { ...message, content }
}

/** Other content in place of the message's own. A call keeps its result, which is cleared where nothing replaces it. */
export function withContent(message: ViewMessage, content: Content | null): ViewMessage | undefined {
  const results = typeof message.content === 'string' ? [] : message.content.filter(isToolResult)
  if (results.length === 0) return content === null ? undefined : { ...message, content }
  return { ...message, content: results.map((result) => ({ ...result, content: content ?? clearedText })) }
}

export function mediaIn(content: Content): number {
  if (typeof content === 'string') return 0
  return content.reduce((sum, block) => {
    return sum + (isToolResult(block) ? mediaIn(blocksOf(block.content)) : Number(isMedia(block)))
  }, 0)
}

/** `[image]` or `[document]` takes the place of each. The last `keep` of them stay. */
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
