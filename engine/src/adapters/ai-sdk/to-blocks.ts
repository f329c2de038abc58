// From messages of the AI SDK to ours. What is not known becomes text, so that it is counted and can be summarized; while
// its message stays as it is, the part itself goes back.
import type { Block } from '../../core/message/block.ts'
import { isObject, stringAt } from '../../core/message/json.ts'
import type { Converted } from '../history/converter.ts'
import { mediaBlock } from './media.ts'
import { type AiMessage, anthropicOptions, type Part, partsIn, textOfPart } from './shapes.ts'

/** System messages before the conversation are the system prompt and not converted. */
export function toMessages(messages: readonly AiMessage[]): readonly Converted[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return messages.flatMap((message, index) => (first < 0 || index < first ? [] : [toMessage(message, index)]))
}

function toMessage({ role, content }: AiMessage, index: number): Converted {
  const parts = partsIn(content)
  const blocks = parts.map((part) =>
    role === 'tool' ? toolBlock(part) : role === 'assistant' ? answerBlock(part) : userBlock(part),
  )
  // Only what the user wrote is a person's word: approvals and notes in between are the client's.
  const origin = role === 'system' || role === 'tool' ? ({ origin: 'meta' } as const) : {}
  return { index, parts, message: { role: role === 'assistant' ? 'assistant' : 'user', content: blocks, ...origin } }
}

function userBlock(part: Part): Block {
  if (part.type === 'text') return { type: 'text', text: textOfPart(part) }
  return part.type === 'file' || part.type === 'image' ? mediaBlock(part) : unknownBlock(part)
}

function answerBlock(part: Part): Block {
  if (part.type === 'text') return { type: 'text', text: textOfPart(part) }
  if (part.type === 'reasoning') return thinkingBlock(part)
  if (part.type === 'file' || part.type === 'reasoning-file') return mediaBlock(part)
  const id = stringAt(part, 'toolCallId')
  const name = stringAt(part, 'toolName')
  // What the provider executed lies within the answer, in a shape of its own.
  const isCall = part.type === 'tool-call' && part.providerExecuted !== true
  return isCall && id !== undefined && name !== undefined
    ? { type: 'tool_use', id, name, input: part.input }
    : unknownBlock(part)
}

/**
 * Thinking counts as signed whatever the provider: only Anthropic's has a signature of that name, and others need theirs
 * back just as well.
 */
function thinkingBlock(part: Part): Block {
  const { signature, redactedData } = anthropicOptions(part) ?? {}
  if (typeof redactedData === 'string') return { type: 'redacted_thinking', data: redactedData }
  const own = typeof signature === 'string' ? signature : `ai-sdk ${JSON.stringify(part.providerOptions ?? {})}`
  return { type: 'thinking', thinking: textOfPart(part), signature: own }
}

function toolBlock(part: Part): Block {
  const id = stringAt(part, 'toolCallId')
  if (part.type !== 'tool-result' || id === undefined) return unknownBlock(part)
  const { content, isError } = resultContent(part)
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) }
}

type ResultContent = { readonly content: string | readonly Block[]; readonly isError: boolean }

function resultContent({ output, ...rest }: Part): ResultContent {
  // Before v5 the result was the value itself.
  if (!isObject(output)) return { content: asText(output ?? rest.result), isError: rest.isError === true }
  const { type, value, reason } = output
  const isError = String(type).startsWith('error') || type === 'execution-denied'
  if (type === 'execution-denied')
    return { content: `The call was denied${reason ? `: ${asText(reason)}` : '.'}`, isError }
  if (type !== 'content') return { content: asText(value), isError }
  return { content: partsIn(value).map(itemBlock), isError }
}

/** An item of a result: text, a file by one of its many names, or something of the provider's. */
function itemBlock(item: Part): Block {
  if (item.type === 'text') return { type: 'text', text: textOfPart(item) }
  const isFile = item.data !== undefined || item.url !== undefined
  return isFile ? mediaBlock(item) : unknownBlock(item)
}

function unknownBlock(part: Part): Block {
  return { type: 'text', text: asText(part) }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
