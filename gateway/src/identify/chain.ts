// A conversation as a chain of digests. Each represents a message and everything before it, so two conversations with the same
// digest are equal up to there.
import { hash } from 'node:crypto'
import { isText, isThinking, isToolResult, isToolUse } from 'everlong/internal'
import type { Converted } from 'everlong/internal/wire'
import { isReminder } from '../dialects/reminders.ts'

type Block = Converted['content'][number]

/**
 * `strict`: results count with their content, for conversations that are found by what was said. `loose`: they count by the id of
 * their call, because clients that name their conversation clear old results in place.
 */
export type Strictness = 'strict' | 'loose'

/** A digest per message. A message without content (a reminder, only thinking) has the digest of the previous message. */
export function chainOf(messages: readonly Converted[], strictness: Strictness): readonly string[] {
  let before = ''
  return messages.map((message) => {
    before = nextLink(before, message, strictness)
    return before
  })
}

export function nextLink(before: string, { role, content, origin }: Converted, strictness: Strictness): string {
  // Clients add their own notes and remove them again.
  if (origin === 'meta') return before
  const said = content.map((block) => saidIn(block, strictness)).filter((part) => part !== '')
  if (said.length === 0) return before
  return hash('sha256', `${before}${role}${said.join('\u0001')}`, 'hex').slice(0, 32)
}

/** Ignores parts that clients add, drop or move: cache marks, thinking, reminders, surrounding spaces. */
function saidIn(block: Block, strictness: Strictness): string {
  if (isThinking(block)) return ''
  if (isText(block)) {
    const text = block.text.trim()
    return isReminder(text) ? '' : text
  }
  if (isToolUse(block)) return `call ${block.id} ${block.name}`
  if (!isToolResult(block)) return JSON.stringify(withoutMark(block))
  return strictness === 'loose'
    ? `result ${block.tool_use_id}`
    : `result ${block.tool_use_id} ${JSON.stringify(typeof block.content === 'string' ? [{ type: 'text', text: block.content }] : block.content)}`
}

function withoutMark({ cache_control: _, ...rest }: Block): object {
  return rest
}
