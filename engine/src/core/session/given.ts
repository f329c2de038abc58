// What a host hands in, as loosely typed as any SDK's messages: prompts, results, answers. Read here once; behind it
// everything is ours.
import { type Block, blocksOf, type Content, isBlock } from '../message/block.ts'
import { fromChatAnswer, fromChatContent, isChatMessage } from '../message/chat-completions.ts'
import { isObject, type JsonObject, kindOf, objectAt, stringAt } from '../message/json.ts'
import type { Role } from '../message/message.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { ModelAnswer } from '../ports/model.ts'

/** Any SDK's own types will do: they have no index signature, and ours have. */
export type GivenBlock = Block | { readonly type: string }

/** A message as the Messages API has it, and who put it there where that is not plain. */
export type GivenMessage = {
  readonly role: Role
  readonly content: string | readonly GivenBlock[]
  /** `meta`: the client speaks, not a person. `attachment`: context that may or may not matter. */
  readonly origin?: 'human' | 'meta' | 'attachment'
  /** The kind of an attachment, which is its title as well. */
  readonly attachment?: string
  /** What a tool knows besides what the model sees: exit codes, line ranges. */
  readonly toolUseResult?: unknown
}

/** An answer as the Messages API gives it; our own ModelAnswer will do as well. */
export type GivenAnswer =
  | ModelAnswer
  | {
      readonly id?: string
      readonly model?: string
      readonly content: string | readonly GivenBlock[]
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

/** What `add` takes: messages of the Messages API or of chat completions. */
export type MessageInput = GivenMessage | ChatMessage

/** What `record` takes: an answer of the Messages API, a chat completion, or a ModelAnswer of one of our clients. */
export type AnswerInput =
  | GivenAnswer
  | {
      readonly id?: string
      readonly model?: string
      readonly choices: readonly { readonly message: object; readonly finish_reason?: string | null }[]
      readonly usage?: object | null
    }

/** The answer as the transcript keeps it: the API's message object. */
export type AnswerMessage = JsonObject & { readonly content: readonly Block[] }

/** The messages of a call to `add`, or an error that says which of them is none and what to do instead. */
export function givenMessages(given: MessageInput | readonly MessageInput[]): readonly GivenMessage[] {
  const messages: readonly unknown[] = (Array.isArray(given) ? given : [given]).map(fromChat)
  for (const [at, message] of messages.entries()) {
    const wrong = isObject(message) ? wrongInMessage(message) : `is ${kindOf(message)}, not a message`
    if (wrong !== undefined) throw new TypeError(`add(): message ${at} ${wrong}.`)
  }
  return messages as readonly GivenMessage[]
}

function fromChat(message: unknown): unknown {
  if (!isObject(message) || !isChatMessage(message)) return message
  const { tool_calls: _, tool_call_id: __, ...rest } = message
  return { ...rest, role: message.role === 'tool' ? 'user' : message.role, content: fromChatContent(message) }
}

/** The answer of a call to `record`, or an error that says what is wrong with it. */
export function givenAnswer(input: AnswerInput): GivenAnswer {
  const given: unknown = isObject(input) ? (fromChatAnswer(input) ?? input) : input
  const wrong = isObject(given) ? wrongInContent(given.content) : `is ${kindOf(given)}, not an answer`
  if (wrong !== undefined) throw new TypeError(`record(): the answer ${wrong}.`)
  return given as GivenAnswer
}

const otherRoles: Readonly<Record<string, string>> = {
  system: 'instructions belong to the session (`system`), a note of the client is a user message with origin: "meta"',
  developer:
    'instructions belong to the session (`system`), a note of the client is a user message with origin: "meta"',
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

/** Without these no API takes the block, now or ever. */
const neededBy: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
}

export function contentOf(content: unknown): Content {
  return typeof content === 'string' ? content : blocksOf(content)
}

export function answerMessage(
  given: GivenAnswer,
  fallback: { readonly id: string; readonly model: string },
): AnswerMessage {
  const isOurs = stringAt(given, 'type') === 'answer'
  const ours = isOurs ? (given as ModelAnswer) : undefined
  const { type: _, stopReason: __, usage, extra, content, ...rest } = given as JsonObject
  const base = ours ? (ours.extra ?? {}) : rest
  return {
    ...base,
    id: stringAt(given, 'id') ?? fallback.id,
    type: 'message',
    role: 'assistant',
    model: stringAt(given, 'model') ?? fallback.model,
    content: blocksOf(content),
    stop_reason: ours ? ours.stopReason : (stringAt(given, 'stop_reason') ?? null),
    stop_sequence: stringAt(given, 'stop_sequence') ?? null,
    ...(ours
      ? { usage: { ...objectAt(extra, 'usage'), ...usageRecord(ours.usage) } }
      : isObject(usage)
        ? { usage }
        : {}),
  }
}

/** Our counts in the words of the API; what else the API counted stands beside them. */
function usageRecord(usage: ModelAnswer['usage']): JsonObject {
  const { iterations } = usage
  return {
    ...countsRecord(usage),
    ...(iterations ? { iterations: iterations.map((item) => ({ ...countsRecord(item), type: item.type })) } : {}),
  }
}

function countsRecord(counts: TokenCounts): JsonObject {
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: counts.cacheWrite - counts.cacheWriteHour,
      ephemeral_1h_input_tokens: counts.cacheWriteHour,
    },
    output_tokens: counts.output,
  }
}
