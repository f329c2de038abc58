// What a host hands in, as loosely typed as any SDK's messages: prompts, results, answers. Read here once; behind it
// everything is ours.
import { type Block, blocksOf, type Content } from '../message/block.ts'
import { isObject, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { Role } from '../message/message.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { ModelAnswer } from '../ports/model.ts'

/** Any SDK's own types will do: they have no index signature, and ours have. */
type GivenBlock = Block | { readonly type: string }

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

/** The answer as the transcript keeps it: the API's message object. */
export type AnswerMessage = JsonObject & { readonly content: readonly Block[] }

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
