// Messages as people hold them, in the shape of the Messages API or of chat completions, read into a view and given back
// in the shape they came in. What is kept comes back as the very object that was given.
import { type Block, blocksOf, isBlock, isThinking, isToolResult } from './core/message/block.ts'
import { fromChatContent } from './core/message/chat-completions.ts'
import { isObject, type JsonObject, kindOf } from './core/message/json.ts'
import type { ViewMessage } from './core/message/message.ts'
import { isContinuation } from './core/prompts/continuation.ts'
import type { ChatMessage } from './core/session/input.ts'
import { originOf } from './core/transcript/format/origin.ts'
import type { View } from './core/transcript/view/fold.ts'

/** A message of the Messages API: `{ role: 'user' | 'assistant', content }`. */
export type AnthropicMessage = { readonly role: 'user' | 'assistant'; readonly content: string | readonly object[] }

/** A message of chat completions: system, developer, user, assistant (with `tool_calls`) or tool. */
export type OpenAIMessage = ChatMessage

export type PlainMessage = AnthropicMessage | OpenAIMessage

/** A message of ours, in both shapes. */
export type UserText = { role: 'user'; content: string }

export type PlainView = {
  readonly view: View
  /** Stands before the conversation and is no part of it: system and developer messages. */
  readonly system: readonly number[]
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool']

/** The messages as they are, or an error that says which of them is none. `caller` is the function they were given to. */
export function checkPlain<M extends PlainMessage>(messages: readonly M[], caller: string): readonly M[] {
  const given: unknown = messages
  if (!Array.isArray(given)) throw new TypeError(`${caller}(): messages must be an array; it is ${kindOf(given)}.`)
  for (const [at, message] of given.entries()) {
    const wrong = isObject(message) ? wrongIn(message) : `is ${kindOf(message)}, not an object`
    if (wrong !== undefined) throw new TypeError(`${caller}(): message ${at} ${wrong}.`)
  }
  return messages
}

function wrongIn({ role, content, tool_calls: calls }: JsonObject): string | undefined {
  if (!roles.includes(String(role))) return `has the role ${JSON.stringify(role)}, which is none of ${roles.join(', ')}`
  if (typeof content === 'string' || Array.isArray(content)) return undefined
  if (role === 'assistant' && (content === null || content === undefined) && Array.isArray(calls)) return undefined
  return `has a content that is ${kindOf(content)}, neither a string nor an array of blocks`
}

/** Each message is an entry of its own; its uuid says which of the given ones it is. */
export function readPlain(messages: readonly PlainMessage[]): PlainView {
  const system: number[] = []
  const read = messages.flatMap((message, index): readonly ViewMessage[] => {
    if (message.role === 'system' || message.role === 'developer') {
      system.push(index)
      return []
    }
    return [viewMessage(message, index)]
  })
  return { view: viewOf(read), system }
}

export function uuidOfPlain(index: number): string {
  return `message-${index}`
}

export function indexOfPlain(uuid: string): number {
  return Number(uuid.slice('message-'.length))
}

function viewMessage(message: PlainMessage, index: number): ViewMessage {
  const uuid = uuidOfPlain(index)
  const content = fromChatContent(message as JsonObject)
  if (message.role === 'assistant') return { role: 'assistant', content, origin: 'assistant', uuid }
  const record = { type: 'user', message: { content } }
  const text =
    typeof content === 'string' ? content : String(blocksOf(content).find(({ type }) => type === 'text')?.text)
  const origin = isContinuation(text) ? 'summary' : (originOf(record) ?? 'meta')
  return { role: 'user', content, origin, uuid }
}

function viewOf(messages: readonly ViewMessage[]): View {
  return {
    messages,
    sources: messages.map((message) => ({
      uuids: [message.uuid ?? ''],
      edits: [],
      isPinned: false,
      pieces: [message],
    })),
    edits: [],
    pins: [],
    changed: new Set(),
  }
}

/** What stands in the place of the messages that went: a user's message in either shape. */
export function userText(content: string): UserText {
  return { role: 'user', content }
}

/** A user's message with a text of ours before or behind its own. */
export function withText<M extends PlainMessage>(
  message: M,
  { before, behind }: { readonly before?: string; readonly behind?: string },
): M {
  const { content } = message
  if (typeof content === 'string') {
    return { ...message, content: [before, content, behind].filter((part) => part !== undefined).join('\n\n') }
  }
  const part = (text: string | undefined) => (text === undefined ? [] : [{ type: 'text', text }])
  return { ...message, content: [...part(before), ...(content ?? []), ...part(behind)] }
}

/** None when there was nothing else in it. */
export function withoutThinking<M extends PlainMessage>(message: M): readonly M[] {
  const { content } = message
  if (message.role !== 'assistant' || !Array.isArray(content)) return [message]
  const left = content.filter((block) => !isBlock(block) || !isThinking(block))
  if (left.length === content.length) return [message]
  return left.length === 0 ? [] : [{ ...message, content: left }]
}

/** The first of the newest messages that may be kept: what one of them answers is kept with it. */
export function firstOfNewest(messages: readonly PlainMessage[], keep: number): number {
  const first = Math.max(0, messages.length - keep)
  for (let at = first; at < messages.length; at++) {
    const message = messages[at]
    if (message && !isAnswerToCall(message)) return at
  }
  return first
}

function isAnswerToCall(message: PlainMessage): boolean {
  if (message.role === 'tool') return true
  return (
    Array.isArray(message.content) && message.content.some((block) => isObject(block) && isToolResult(block as Block))
  )
}
