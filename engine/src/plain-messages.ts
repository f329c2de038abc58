// Reads messages in the shape of the Messages API or of chat completions into a view. foreign-messages.ts converts those of the
// AI SDK and of LangChain first.

import { fromChatContent } from './core/message/chat-completions.ts'
import { isObject, type JsonObject, kindOf } from './core/message/json.ts'
import { type Block, blocksOf, isBlock, isThinking, isToolResult, type ViewMessage } from './core/message/message.ts'
import { isContinuation } from './core/prompts/continuation.ts'
import type { ChatMessage } from './core/session/input.ts'
import { originOf } from './core/transcript/format/messages.ts'
import type { View } from './core/transcript/view/fold.ts'

/** A message of the Messages API: `{ role: 'user' | 'assistant', content }`. */
export type AnthropicMessage = { readonly role: 'user' | 'assistant'; readonly content: string | readonly object[] }

/** A message of chat completions: system, developer, user, assistant (with `tool_calls`) or tool. */
export type OpenAIMessage = ChatMessage & {
  /** UI messages of the AI SDK have these instead of content. */
  readonly parts?: never
}

export type PlainMessage = AnthropicMessage | OpenAIMessage

/** A message of the AI SDK: `ModelMessage`. */
export type AiSdkMessage = {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly object[]
}

/** A message of LangChain: `BaseMessage`. */
export type LangChainLike = { readonly lc_namespace: readonly string[]; readonly content: unknown }

/** Input of `compact` and `microcompact`. A list contains messages of one kind. */
export type AnyMessage = PlainMessage | AiSdkMessage | LangChainLike

export type ForeignKind = 'ai-sdk' | 'langchain'

const aiSdkParts = /^(tool-(call|result|approval-request|approval-response)|reasoning(-file)?)$/

/** Undefined for messages of the Messages API and of chat completions. Messages of the AI SDK look the same if they are only text. */
export function foreignKind(messages: readonly unknown[]): ForeignKind | undefined {
  const all = Array.isArray(messages) ? messages.filter(isObject) : []
  if (all.length > 0 && all.every(isLangChain)) return 'langchain'
  return all.some(isAiSdk) ? 'ai-sdk' : undefined
}

function isLangChain(message: JsonObject): boolean {
  return 'lc_namespace' in message
}

function isAiSdk({ content }: JsonObject): boolean {
  if (!Array.isArray(content)) return false
  return content.some((part) => isObject(part) && (aiSdkParts.test(String(part.type)) || isFile(part)))
}

/** Separate files and images. Other APIs put them into a field of the part. */
function isFile({ type, mediaType, image }: JsonObject): boolean {
  return (type === 'file' && mediaType !== undefined) || (type === 'image' && image !== undefined)
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool']

/** The function to use for messages of other shapes. */
const others: readonly (readonly [is: (message: JsonObject) => boolean, name: string, use: string])[] = [
  [
    ({ content, parts }) => content === undefined && Array.isArray(parts),
    'a UI message of the AI SDK',
    'convertToModelMessages() of the AI SDK',
  ],
  [isLangChain, 'a message of LangChain, and others are not', 'messages of one kind'],
  [
    (message) =>
      /^(function_call|function_call_output|function_call_result|reasoning)$/.test(String(message.type)) ||
      partTypes(message).some((type) => /^(input|output)_(text|image|file)$/.test(type)),
    'an item of the Responses API or of the OpenAI Agents SDK',
    'everlong/openai or everlong/openai-agents',
  ],
]

export function partTypes({ content }: JsonObject): readonly string[] {
  return Array.isArray(content) ? content.map((part) => (isObject(part) ? String(part.type) : '')) : []
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
 * Each message is an entry, and its uuid identifies the given message. System and developer messages are not part of the
 * conversation: `system` has their positions. Throws a TypeError that names the invalid message.
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

/** Empty if there was nothing else in it. */
export function withoutThinking<M extends PlainMessage>(message: M): readonly M[] {
  const { content } = message
  if (message.role !== 'assistant' || !Array.isArray(content)) return [message]
  const left = content.filter((block) => !isBlock(block) || !isThinking(block))
  if (left.length === content.length) return [message]
  return left.length === 0 ? [] : [{ ...message, content: left }]
}

/** Index of the first kept message. A call is kept if one of the kept messages answers it. */
export function firstOfNewest(messages: readonly PlainMessage[], keep: number): number {
  const first = Math.max(0, messages.length - keep)
  const isResult = ({ role, content }: PlainMessage) =>
    role === 'tool' ||
    (Array.isArray(content) && content.some((block) => isObject(block) && isToolResult(block as Block)))
  const start = messages.findIndex((message, at) => at >= first && !isResult(message))
  return start < 0 ? first : start
}
