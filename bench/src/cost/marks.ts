// Where a careful client puts its cache marks: at the end of the system prompt (which covers the tools), and on the newest
// two messages of the user's side.
import type { Block, Message } from 'everlong'
import { blocksOf, type JsonObject } from 'everlong/internal'
import type { Setup } from './setup.ts'

export function markOf(lifetime: Setup['lifetime']): JsonObject {
  return { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
}

export function marked(messages: readonly Message[], lifetime: Setup['lifetime']): readonly Message[] {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
  const recent = new Set(users.slice(-2))
  return messages.map((message, at) => (recent.has(at) ? withMark(message, lifetime) : message))
}

function withMark(message: Message, lifetime: Setup['lifetime']): Message {
  const blocks = blocksOf(message.content)
  const at = blocks.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  const mark = markOf(lifetime)
  return {
    ...message,
    content: blocks.map((block, index) => (index === at ? ({ ...block, cache_control: mark } as Block) : block)),
  }
}
