// Manual thinking (`thinking: { type: 'enabled' }`) wants every answer that thinks to begin with it.
import { type Block, blocksOf, isThinking, isToolResult } from '../message/block.ts'
import type { Message } from '../message/message.ts'

/** Whether a request continues an answer that began without thinking: manual thinking would be refused there. */
export function continuesUnthought(messages: readonly Message[]): boolean {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && !blocksOf(content).some(isToolResult))
  const first = firstOf(messages[asked + 1])
  return first !== undefined && !isThinking(first)
}

/** Drops the thinking of answers that do not begin with it. The same array if there are none. */
export function withThinkingFirst(messages: readonly Message[]): readonly Message[] {
  const isOdd = (message: Message) => {
    const first = firstOf(message)
    return first !== undefined && !isThinking(first) && blocksOf(message.content).some(isThinking)
  }
  if (!messages.some(isOdd)) return messages
  const unthought = ({ content }: Message) => blocksOf(content).filter((block) => !isThinking(block))
  return messages.map((message) => (isOdd(message) ? { ...message, content: unthought(message) } : message))
}

function firstOf(message: Message | undefined): Block | undefined {
  return blocksOf(message?.content).find(({ type }) => type !== 'compaction')
}
