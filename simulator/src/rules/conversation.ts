// Rules about the order and content of messages. One rule, one function, one wording.
import type { Block } from 'everlong'
import { isObject, isText, isToolResult } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import type { InputMessage, MessagesRequest } from '../request/request.ts'

export function hasMessages(request: MessagesRequest): Problem | undefined {
  if (request.messages.length === 0 && isObject(request.body.compaction)) {
    return invalid('compaction: there is nothing to summarize', 'compaction_nothing_to_summarize')
  }
  return request.messages.length === 0 ? invalid('messages: at least one message is required') : undefined
}

/** A compaction block replaces everything before it, including the first user message. */
export function startsWithUser(request: MessagesRequest): Problem | undefined {
  const first = request.messages.find((message) => message.role !== 'system')
  if (first === undefined || first.role === 'user' || first.content[0]?.type === 'compaction') return undefined
  return invalid('messages: first message must use the "user" role')
}

export function hasContent(request: MessagesRequest): Problem | undefined {
  const last = request.messages.length - 1
  for (const message of request.messages) {
    if (message.content.length > 0 || message.role === 'system') continue
    if (message.role === 'assistant' && message.index === last) continue
    const rule = 'all messages must have non-empty content except for the optional final assistant message'
    return invalid(`messages.${message.index}: ${rule}`)
  }
  return undefined
}

export function hasText(request: MessagesRequest): Problem | undefined {
  for (const message of request.messages) {
    for (const block of message.content) {
      if (isToolResult(block) && Array.isArray(block.content) && block.content.some(isEmptyText)) {
        return invalid('messages: text content blocks must be non-empty')
      }
      if (!isText(block)) continue
      if (block.text === '') return invalid('messages: text content blocks must be non-empty')
      if (block.text.trim() === '') return invalid('messages: text content blocks must contain non-whitespace text')
    }
  }
  return undefined
}

function isEmptyText(block: Block): boolean {
  return isText(block) && block.text === ''
}

/** A conversation that ends with the assistant is a prefill, unless its end was paused. */
export function endsWell(request: MessagesRequest): Problem | undefined {
  const last = request.messages.at(-1)
  if (last?.role !== 'assistant') return undefined
  const block = last.content.at(-1)
  if (block && /^compaction$|tool_use$|._tool_result$/.test(block.type)) return undefined
  if (block && isText(block) && block.text !== block.text.trimEnd()) {
    return invalid('messages: final assistant content cannot end with trailing whitespace')
  }
  if (request.body.compaction || request.endpoint === 'count' || request.facts.takesPrefill) return undefined
  return invalid(
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  )
}

/** A system message in the middle of a conversation needs content and a following message. */
export function placesSystem(request: MessagesRequest): Problem | undefined {
  const lacking = (message: InputMessage) => message.role === 'system' && message.content.length === 0
  const found = request.messages.find(lacking)
  if (found !== undefined) return invalid(`messages.${found.index}: system messages must have non-empty content`)
  const stray = request.messages.find(({ role, index }) => role === 'system' && !isPlaced(request.messages, index))
  const rule =
    'a `system` message must immediately follow a `user` turn, and precede an `assistant` turn or end the list'
  return stray && invalid(`messages.${stray.index}: ${rule}`)
}

function isPlaced(messages: readonly InputMessage[], index: number): boolean {
  const before = messages.slice(0, index).findLast((message) => message.role !== 'system')
  const after = messages.slice(index).find((message) => message.role !== 'system')
  const endsOnServer = before?.content.at(-1)?.type.endsWith('_tool_result') ?? false
  return (before?.role === 'user' || endsOnServer) && after?.role !== 'user'
}
