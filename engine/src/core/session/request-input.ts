// What a host sets for every request, as the SDKs type it, and as the session keeps it.
import { fromChatTool } from '../message/chat-completions.ts'
import type { JsonObject } from '../message/json.ts'
import type { RequestBase } from './gauge.ts'
import type { InputBlock } from './input.ts'

/** What goes with every request besides the messages, as the SDKs type it. */
export type RequestInput = {
  readonly system?: string | readonly InputBlock[]
  /** Tools of the Messages API or of chat completions. */
  readonly tools?: readonly object[]
  readonly maxTokens?: number
  readonly thinking?: object
  readonly betas?: readonly string[]
  /** Everything else of the Messages API: tool_choice, metadata … */
  readonly options?: object
  /** Names of tools whose results can be had again: old ones may be cleared. Not part of the request itself. */
  readonly reproducible?: readonly string[]
}

export function requestBase({ tools, ...rest }: RequestInput): RequestBase {
  const base = rest as Omit<RequestBase, 'tools'>
  return tools === undefined ? base : { ...base, tools: tools.map((tool) => fromChatTool(tool as JsonObject)) }
}
