// Messages in the shape of the Messages API or of chat completions, read into a view.
import { type Block, blocksOf, isBlock, isThinking, isToolResult } from './core/message/block.ts'
import { fromChatContent } from './core/message/chat-completions.ts'
import { isObject, type JsonObject, kindOf } from './core/message/json.ts'
import type { ViewMessage } from './core/message/message.ts'
import { isContinuation } from './core/prompts/continuation.ts'
import type { ChatMessage } from './core/session/input.ts'
import { originOf } from './core/transcript/format/messages.ts'
import type { View } from './core/transcript/view/fold.ts'

/** A message of the Messages API: `{ role: 'user' | 'assistant', content }`. */
export type AnthropicMessage = { readonly role: 'user' | 'assistant'; readonly content: string | readonly object[] }

/** A message of chat completions: system, developer, user, assistant (with `tool_calls`) or tool. */
export type OpenAIMessage = ChatMessage

type IsAny<T> = 0 extends 1 & T ? true : false
type BlockOf<M> = M extends { readonly content?: infer C } ? (C extends readonly (infer B)[] ? B : never) : never
type ForeignBlock<B> = IsAny<B> extends true ? never : Extract<B, { readonly toolCallId: string }>

/** Messages of the AI SDK look alike in types until a tool is called. */
export type NotAiSdk<M> = [ForeignBlock<BlockOf<M>>] extends [never]
  ? unknown
  : 'These are messages of the AI SDK: use the middleware or prepareStep of everlong/ai-sdk.'

export type PlainMessage = AnthropicMessage | OpenAIMessage

const roles = ['system', 'developer', 'user', 'assistant', 'tool']

/** What to use for messages of other shapes. */
const others: readonly (readonly [is: (message: JsonObject) => boolean, name: string, use: string])[] = [
  [
    ({ content }) => Array.isArray(content) && content.some((part) => /^tool-(call|result)$/.test(typeOf(part))),
    'a message of the AI SDK',
    'the middleware or prepareStep of everlong/ai-sdk',
  ],
  [
    ({ content, parts }) => content === undefined && Array.isArray(parts),
    'a UI message of the AI SDK',
    'convertToModelMessages() of the AI SDK, then everlong/ai-sdk',
  ],
  [
    (message) => 'lc_kwargs' in message || 'lc_namespace' in message,
    'a message of LangChain',
    'the middleware of everlong/langchain',
  ],
  [
    ({ content, type }) =>
      /^(function_call|function_call_output|function_call_result|reasoning)$/.test(String(type)) ||
      (Array.isArray(content) && content.some((part) => /^(input|output)_(text|image|file)$/.test(typeOf(part)))),
    'an item of the Responses API or of the OpenAI Agents SDK',
    'manageResponses() of everlong/openai, or everlong/openai-agents',
  ],
]

function typeOf(part: unknown): string {
  return isObject(part) ? String(part.type) : ''
}

function wrongIn(message: JsonObject): string | undefined {
  const { role, content, tool_calls: calls } = message
  const [, name, use] = others.find(([is]) => is(message)) ?? []
  if (name !== undefined) return `is ${name}, which this function does not take; use ${use}`
  if (!roles.includes(String(role))) return `has the role ${JSON.stringify(role)}, which is none of ${roles.join(', ')}`
  if (typeof content === 'string' || Array.isArray(content)) return undefined
  if (role === 'assistant' && (content === null || content === undefined) && Array.isArray(calls)) return undefined
  return `has a content that is ${kindOf(content)}, neither a string nor an array of blocks`
}

/**
 * Each message is an entry; its uuid says which of the given ones it is. System and developer messages are no part of the
 * conversation: `system` are their places. Throws a TypeError that says which message is wrong.
 */
export function readPlain(
  messages: readonly PlainMessage[],
  caller: string,
): { readonly view: View; readonly system: readonly number[] } {
  const given: unknown = messages
  if (!Array.isArray(given)) throw new TypeError(`${caller}(): messages must be an array; it is ${kindOf(given)}.`)
  for (const [at, message] of given.entries()) {
    const wrong = isObject(message) ? wrongIn(message) : `is ${kindOf(message)}, not an object`
    if (wrong !== undefined) throw new TypeError(`${caller}(): message ${at} ${wrong}.`)
  }
  const isSystem = ({ role }: PlainMessage) => role === 'system' || role === 'developer'
  const read = messages.flatMap((message, at) => (isSystem(message) ? [] : [viewMessage(message, at)]))
  const sources = read.map((message) => ({
    uuids: [message.uuid ?? ''],
    edits: [],
    isPinned: false,
    pieces: [message],
  }))
  const view: View = { messages: read, sources, edits: [], pins: [], changed: new Set() }
  return { view, system: messages.flatMap((message, at) => (isSystem(message) ? [at] : [])) }
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
  const text = String(blocksOf(content).find(({ type }) => type === 'text')?.text)
  const origin = isContinuation(text) ? 'summary' : (originOf(record) ?? 'meta')
  return { role: 'user', content, origin, uuid }
}

/** None when there was nothing else in it. */
export function withoutThinking<M extends PlainMessage>(message: M): readonly M[] {
  const { content } = message
  if (message.role !== 'assistant' || !Array.isArray(content)) return [message]
  const left = content.filter((block) => !isBlock(block) || !isThinking(block))
  if (left.length === content.length) return [message]
  return left.length === 0 ? [] : [{ ...message, content: left }]
}

/** The first of the newest messages that may be kept: a call that one of them answers is kept with it. */
export function firstOfNewest(messages: readonly PlainMessage[], keep: number): number {
  const first = Math.max(0, messages.length - keep)
  const isResult = ({ role, content }: PlainMessage) =>
    role === 'tool' ||
    (Array.isArray(content) && content.some((block) => isObject(block) && isToolResult(block as Block)))
  const start = messages.findIndex((message, at) => at >= first && !isResult(message))
  return start < 0 ? first : start
}
