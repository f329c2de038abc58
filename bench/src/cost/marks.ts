// Where a careful client puts its four cache marks: at the end of the system prompt (which covers the tools), at an anchor
// that will outlive changes behind it, and on the newest two messages of the user's side.
import { type Block, blocksOf, type JsonObject, type Message } from 'everlong'
import type { Setup } from './setup.ts'

export type Marking = {
  readonly lifetime: Setup['lifetime']
  readonly anchor?: number | undefined
  readonly newest?: number
}

export function markOf(lifetime: Setup['lifetime']): JsonObject {
  return { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) }
}

/** `newest` messages of the user's side are marked; the last message can be left out with `skipLast`. */
export function marked(
  messages: readonly Message[],
  marking: Marking & { readonly skipLast?: boolean },
): readonly Message[] {
  const { lifetime, anchor, skipLast } = marking
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
  const recent = (skipLast ? users.slice(0, -1) : users).slice(-2)
  const wanted = new Set([...recent, ...(anchor === undefined ? [] : [anchor])])
  return messages.map((message, at) => (wanted.has(at) ? withMark(message, lifetime) : message))
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
