// Parses what a host passes in (prompts, results, answers, typed as loosely as any SDK's messages) and turns it into
// transcript records in the Claude Code format, which get their ids and time later.
import type { SnipInput } from '../mechanisms/ranges.ts'
import { fromChatAnswer, fromChatContent, fromChatTool, isChatMessage } from '../message/chat-completions.ts'
import { defined, isObject, type JsonObject, kindOf, objectAt, stringAt } from '../message/json.ts'
import {
  type Block,
  blocksOf,
  type Content,
  isBlock,
  isMedia,
  isText,
  isToolResult,
  type Role,
} from '../message/message.ts'
import { usageRecord } from '../message/usage.ts'
import type { AbortSignalPort, ModelAnswer } from '../ports/model.ts'

/** Accepts any SDK's own types, which have no index signature. */
export type InputBlock = Block | { readonly type: string }

/** A message of the Messages API, and its origin if that is not obvious. */
export type ApiMessage = {
  readonly role: Role
  readonly content: string | readonly InputBlock[]
  /**
   * `meta`: from the client, not a person. `attachment`: context that may be irrelevant. `summary`: its first text summarizes an
   * earlier context, and it replaces everything before it.
   */
  readonly origin?: 'human' | 'meta' | 'attachment' | 'summary'
  /** The kind of an attachment, which is also its title. */
  readonly attachment?: string
  /** Facts from the tool that the model does not see: exit codes, line ranges. Also for an attachment that a tool read. */
  readonly toolUseResult?: unknown
}

export type ApiAnswer =
  | ModelAnswer
  | {
      readonly id?: string
      readonly model?: string
      readonly content: string | readonly InputBlock[]
      readonly stop_reason?: string | null
      readonly usage?: object | null
    }

/** A message of chat completions. System and developer messages are refused: they belong to the session (`system`). */
export type ChatMessage = {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function'
  readonly content?: string | readonly object[] | null
  readonly tool_calls?: readonly object[]
  readonly tool_call_id?: string
}

export type MessageInput = ApiMessage | ChatMessage

/** The input of `record`: an answer of the Messages API, a chat completion, or a ModelAnswer of one of our clients. */
export type AnswerInput =
  | ApiAnswer
  | {
      readonly id?: string
      readonly model?: string
      readonly choices: readonly { readonly message: object; readonly finish_reason?: string | null }[]
      readonly usage?: object | null
    }

/** Everything besides the messages that is part of every request, in types that fit the SDKs. */
export type RequestInput = {
  readonly system?: string | readonly InputBlock[]
  readonly tools?: readonly object[]
  readonly maxTokens?: number
  readonly thinking?: object
  readonly betas?: readonly string[]
  /** Everything else of the Messages API: tool_choice, metadata … */
  readonly options?: object
  /** Names of tools whose results can be produced again, so that old ones may be cleared. Not part of the request itself. */
  readonly reproducible?: readonly string[]
}

/** The request input in the session's form. */
export type RequestBase = Omit<RequestInput, 'system' | 'tools' | 'thinking' | 'options'> & {
  readonly system?: string | readonly Block[]
  readonly tools?: readonly JsonObject[]
  readonly thinking?: JsonObject
  readonly options?: JsonObject
}

export function requestBase({ tools, ...rest }: RequestInput): RequestBase {
  const base = rest as Omit<RequestBase, 'tools'>
  return tools === undefined ? base : { ...base, tools: tools.map((tool) => fromChatTool(tool as JsonObject)) }
}

/** The answer in the form of the transcript: the API's message object. */
export type AnswerMessage = JsonObject & { readonly content: readonly Block[] }

/** Throws a TypeError that says which message is wrong and what to do instead. */
export function parseMessages(given: MessageInput | readonly MessageInput[]): readonly ApiMessage[] {
  const messages: readonly unknown[] = (Array.isArray(given) ? given : [given]).map(fromChat)
  for (const [at, message] of messages.entries()) {
    const wrong = isObject(message) ? wrongInMessage(message) : `is ${kindOf(message)}, not a message`
    if (wrong !== undefined) throw new TypeError(`add(): message ${at} ${wrong}.`)
  }
  return messages as readonly ApiMessage[]
}

function fromChat(message: unknown): unknown {
  if (!isObject(message) || !isChatMessage(message)) return message
  const { tool_calls: _, tool_call_id: __, ...rest } = message
  return { ...rest, role: message.role === 'tool' ? 'user' : message.role, content: fromChatContent(message) }
}

export function parseAnswer(input: AnswerInput): ApiAnswer {
  const given: unknown = isObject(input) ? (fromChatAnswer(input) ?? input) : input
  const wrong = isObject(given) ? wrongInContent(given.content) : `is ${kindOf(given)}, not an answer`
  if (wrong !== undefined) throw new TypeError(`record(): the answer ${wrong}.`)
  return given as ApiAnswer
}

const asMeta =
  'instructions belong to the session (`system`), a note of the client is a user message with origin: "meta"'
const otherRoles: Readonly<Record<string, string>> = {
  system: asMeta,
  developer: asMeta,
  tool: 'a result is a user message with a block of type tool_result',
}

function wrongInMessage({ role, content }: JsonObject): string | undefined {
  if (role === 'user' || role === 'assistant')
    return wrongInContent(content) ?? blocksOf(content).flatMap(wrongInBlock)[0]
  const hint = otherRoles[String(role)]
  return `has the role ${JSON.stringify(role)}; it must be "user" or "assistant"${hint ? `: ${hint}` : ''}`
}

function wrongInContent(content: unknown): string | undefined {
  if (typeof content === 'string') return undefined
  if (!Array.isArray(content))
    return `has a content that is ${kindOf(content)}, neither a string nor an array of blocks`
  const odd = content.findIndex((block) => !isBlock(block))
  return odd < 0 ? undefined : `has a block ${odd} without a type`
}

function wrongInBlock(block: Block, at: number): readonly string[] {
  const missing = (neededBy[block.type] ?? []).filter((key) => typeof block[key] !== 'string')
  return missing.map((key) => `has a block ${at} of type ${block.type} without ${key}`)
}

/** Fields without which no API accepts the block. */
const neededBy: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
}

export function answerMessage(
  given: ApiAnswer,
  fallback: { readonly id: string; readonly model: string },
): AnswerMessage {
  const ours = stringAt(given, 'type') === 'answer' ? (given as ModelAnswer) : undefined
  const { type: _, stopReason: __, usage: reported, extra, content, ...rest } = given as JsonObject
  const known = ours ? { ...objectAt(extra, 'usage'), ...usageRecord(ours.usage) } : reported
  const usage = isObject(known) ? known : undefined
  return {
    ...(ours ? ours.extra : rest),
    id: stringAt(given, 'id') ?? fallback.id,
    type: 'message',
    role: 'assistant',
    model: stringAt(given, 'model') ?? fallback.model,
    content: blocksOf(content),
    stop_reason: ours?.stopReason ?? stringAt(given, 'stop_reason') ?? null,
    stop_sequence: stringAt(given, 'stop_sequence') ?? null,
    ...defined({ usage }),
  }
}

/** A record without its place in the tree. */
export type Body = JsonObject & { readonly type: string }

/** Each record has one origin, so tool results and a person's text in one message become two records. */
export function messageBodies(message: ApiMessage): readonly Body[] {
  const content: Content = typeof message.content === 'string' ? message.content : blocksOf(message.content)
  if (content.length === 0) return []
  if (message.role === 'assistant') {
    return [{ type: 'assistant', message: { type: 'message', role: 'assistant', content: blocksOf(content) } }]
  }
  const { origin, toolUseResult } = message
  if (origin === 'attachment') {
    const { attachment: type = 'context' } = message
    return [{ type: 'attachment', attachment: { type, content: attached(content), ...defined({ toolUseResult }) } }]
  }
  if (origin === 'summary') return summaryBodies(blocksOf(content))
  const results = typeof content === 'string' ? [] : content.filter(isToolResult)
  const others = typeof content === 'string' ? content : content.filter((block) => !isToolResult(block))
  return [
    { type: 'user', message: { role: 'user', content: results }, ...defined({ toolUseResult }) },
    { type: 'user', ...(origin && userMarks[origin]), message: { role: 'user', content: others } },
  ].filter(({ message }) => message.content.length > 0)
}

const userMarks = { meta: { isMeta: true }, human: { origin: { kind: 'human' } }, attachment: {}, summary: {} }

/** Hides all earlier messages from the context. */
export const boundaryBody: Body = {
  type: 'system',
  subtype: 'compact_boundary',
  content: 'Conversation compacted',
  isMeta: false,
  level: 'info',
  parentUuid: null,
  compactMetadata: { trigger: 'manual', preTokens: 0 },
}

/** A boundary, the summary, and the restored context after it, as if the compaction had run in this session. */
function summaryBodies([summary, ...restored]: readonly Block[]): readonly Body[] {
  const said = (content: readonly Block[]) => ({ type: 'user', message: { role: 'user', content } })
  return [
    // No person compacted. Without its boundary, the summary would leave the context and older messages would return.
    { ...boundaryBody, everlong: { canUndo: false } },
    { ...said(summary ? [summary] : []), isVisibleInTranscriptOnly: true, isCompactSummary: true },
    ...(restored.length === 0 ? [] : [{ ...said(restored), isMeta: true }]),
  ]
}

/** One string if everything is text. Images and documents stay blocks. */
function attached(content: ApiMessage['content']): string | readonly Block[] {
  const blocks = blocksOf(content).map(
    (block): Block => (isText(block) || isMedia(block) ? block : { type: 'text', text: JSON.stringify(block) }),
  )
  return blocks.every(isText) ? blocks.map(({ text }) => text).join('\n') : blocks
}

export type CompactOptions = {
  readonly instructions?: string
  /** Summarizes from this entry on, or up to it. Summarizes everything if neither is given. */
  readonly from?: string
  readonly upTo?: string
  readonly signal?: AbortSignalPort
}

export function compactInput(options: CompactOptions): CompactOptions {
  const names = ['instructions', 'from', 'upTo'] as const
  const wrong = wrongInOptions(options, { names, example: "{ instructions: 'Keep the numbers.' }" })
  if (wrong !== undefined) throw new TypeError(`compact(): ${wrong}`)
  if (options.from !== undefined && options.upTo !== undefined)
    throw new TypeError('compact(): from and upTo exclude each other. Pass one of them.')
  return options
}

export function snipInput(input: SnipInput): SnipInput {
  const example = '{ from, to }, the uuids of two entries'
  const wrong = wrongInOptions(input, { names: ['from', 'to', 'marker'], required: ['from', 'to'], example })
  if (wrong !== undefined) throw new TypeError(`snip(): ${wrong}`)
  return input
}

type Expected = {
  /** For fields with a text. */
  readonly names: readonly string[]
  readonly required?: readonly string[]
  readonly example: string
}

function wrongInOptions(given: unknown, { names, required = [], example }: Expected): string | undefined {
  if (!isObject(given)) return `the options are ${kindOf(given)}. Pass ${example}.`
  const wrong = names.find(
    (name) => typeof given[name] !== 'string' && (given[name] !== undefined || required.includes(name)),
  )
  return wrong === undefined ? undefined : `${wrong} is ${kindOf(given[wrong])}, not a text. Pass ${example}.`
}
