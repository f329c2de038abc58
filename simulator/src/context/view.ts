// The messages that the model sees before any requested edit: from the last compaction on, without expired notices and without
// thinking that the model does not keep.
import type { Block } from 'everlong'
import { isThinking, isToolResult } from 'everlong/internal'
import { type InputMessage, isCompaction, type MessagesRequest, thinks } from '../request/request.ts'

export type Messages = readonly InputMessage[]

export function viewOf(request: MessagesRequest, messages: Messages): Messages {
  const current = withoutPastNotices(sinceCompaction(messages), request.body.messages)
  if (!thinks(request)) return mapContent(current, (content) => content.filter((block) => !isThinking(block)))
  const asked = request.body.context_management
  const hasOwnRule = JSON.stringify(asked ?? null).includes('clear_thinking_20251015')
  return request.facts.keepsThinking || hasOwnRule ? current : thinkingOfLastTurn(current)
}

export function mapContent(messages: Messages, change: (content: readonly Block[]) => readonly Block[]): Messages {
  return messages
    .map((message) => {
      const content = change(message.content)
      return content.length === message.content.length && content.every((block, at) => block === message.content[at])
        ? message
        : { ...message, content }
    })
    .filter((message) => message.content.length > 0)
}

/** Ignores blocks before the last compaction. A failed compaction (content null) counts as no block. */
function sinceCompaction(messages: Messages): Messages {
  const at = messages.findLastIndex((message) => message.content.some(isCompaction))
  const kept = messages.slice(Math.max(at, 0)).map((message, index) => {
    if (index > 0 || at < 0) return message
    return { ...message, content: message.content.slice(message.content.findLastIndex(isCompaction)) }
  })
  return mapContent(kept, (content) => content.filter((block) => block.type !== 'compaction' || isCompaction(block)))
}

/** `clear_at: "next_user_message"`: shown until the next user message. */
function withoutPastNotices(messages: Messages, sent: unknown): Messages {
  const raw: readonly unknown[] = Array.isArray(sent) ? sent : []
  const isPassing = (message: InputMessage) => {
    const source = raw[message.index]
    return (
      typeof source === 'object' && source !== null && 'clear_at' in source && source.clear_at === 'next_user_message'
    )
  }
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  return messages.filter((message, at) => !(message.role === 'system' && at < lastUser && isPassing(message)))
}

/** A user message with anything but tool results begins a turn. */
export function beginsTurn(message: InputMessage): boolean {
  return (
    message.role === 'user' && message.content.some((block) => !isToolResult(block) && block.type !== 'cache_edits')
  )
}

function thinkingOfLastTurn(messages: Messages): Messages {
  const from = messages.findLastIndex(beginsTurn)
  const past = mapContent(messages.slice(0, Math.max(from, 0)), (content) =>
    content.filter((block) => !isThinking(block)),
  )
  return [...past, ...messages.slice(Math.max(from, 0))]
}
