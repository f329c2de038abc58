// A request in types that fit the official SDK without a cast. They name the common blocks; others pass through.
import type { ModelRequest } from '../ports/model.ts'
import { legalRequest } from './legal-request.ts'

type CacheControl = { type: 'ephemeral'; ttl?: '5m' | '1h' }
type Marked = { cache_control?: CacheControl }
type TextParam = Marked & { type: 'text'; text: string }
type ImageParam = Marked & {
  type: 'image'
  source:
    | { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
    | { type: 'url'; url: string }
}
type DocumentParam = Marked & {
  type: 'document'
  source: { type: 'base64'; media_type: 'application/pdf'; data: string } | { type: 'url'; url: string }
  title?: string
}
type ThinkingParam =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
type ToolUseParam = Marked & { type: 'tool_use'; id: string; name: string; input: unknown }
type ToolResultParam = Marked & {
  type: 'tool_result'
  tool_use_id: string
  content?: string | (TextParam | ImageParam)[]
  is_error?: boolean
}
type BlockParam = TextParam | ImageParam | DocumentParam | ThinkingParam | ToolUseParam | ToolResultParam
type ToolParam = Marked & {
  name: string
  description?: string
  input_schema: { type: 'object'; properties?: unknown; required?: string[]; [key: string]: unknown }
}

export type MessagesBody = {
  model: string
  max_tokens: number
  messages: { role: 'user' | 'assistant'; content: string | BlockParam[] }[]
  system?: string | TextParam[]
  tools?: ToolParam[]
  thinking?: { type: 'enabled'; budget_tokens: number } | { type: 'disabled' }
}

/** For clients that are not ours. */
export function messagesBody(request: ModelRequest, maxTokens: number): MessagesBody {
  const { model, system, tools, messages, thinking, options } = legalRequest(request)
  return {
    ...options,
    model,
    max_tokens: request.maxTokens ?? maxTokens,
    ...(system === undefined ? {} : { system: system as string | TextParam[] }),
    ...(tools === undefined ? {} : { tools: tools as unknown as ToolParam[] }),
    messages: messages as readonly unknown[] as MessagesBody['messages'],
    ...(thinking === undefined ? {} : { thinking: thinking as NonNullable<MessagesBody['thinking']> }),
  }
}
