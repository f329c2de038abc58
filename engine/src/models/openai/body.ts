// The body of a chat completion. Options of the Messages API are put in that API's words where it has any; cache marks,
// context management and betas have no counterpart and stay behind.
import { isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { ModelRequest } from '../../core/ports/model.ts'
import { chatMessages } from './messages.ts'

export type ChatDefaults = {
  readonly model: string
  readonly maxTokens?: number
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly body?: JsonObject
}

/** Fields that both APIs, or only chat completions, have under this name. */
const sameName = [
  'temperature',
  'top_p',
  'seed',
  'user',
  'reasoning_effort',
  'response_format',
  'prompt_cache_key',
  'service_tier',
  'parallel_tool_calls',
]

export function chatBody(request: ModelRequest, defaults: ChatDefaults): JsonObject {
  const limit = request.maxTokens ?? defaults.maxTokens
  const tools = (request.tools ?? []).flatMap(toolOf)
  return {
    model: request.model || defaults.model,
    messages: chatMessages(request),
    ...(tools.length === 0 ? {} : { tools, ...choiceOf(request.options?.tool_choice) }),
    ...(limit === undefined ? {} : { [defaults.maxTokensField]: limit }),
    ...optionsOf(request.options ?? {}),
    stream: true,
    stream_options: { include_usage: true },
    ...defaults.body,
  }
}

/** Tools that run on another provider's servers have no schema of their own, and no meaning here. */
function toolOf(tool: JsonObject): readonly JsonObject[] {
  const parameters = objectAt(tool, 'input_schema')
  const name = stringAt(tool, 'name')
  if (parameters === undefined || name === undefined) return []
  const description = stringAt(tool, 'description')
  const strict = typeof tool.strict === 'boolean' ? { strict: tool.strict } : {}
  return [
    {
      type: 'function',
      function: { name, ...(description === undefined ? {} : { description }), parameters, ...strict },
    },
  ]
}

function choiceOf(choice: unknown): JsonObject {
  if (!isObject(choice)) return {}
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  const name = stringAt(choice, 'name')
  if (choice.type === 'tool' && name !== undefined)
    return { tool_choice: { type: 'function', function: { name } }, ...parallel }
  const words: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }
  const word = words[String(choice.type)]
  return { ...(word === undefined ? {} : { tool_choice: word }), ...parallel }
}

function optionsOf(options: JsonObject): JsonObject {
  const stop = Array.isArray(options.stop_sequences) && options.stop_sequences.length > 0 ? options.stop_sequences : []
  const same = Object.entries(options).filter(([key]) => sameName.includes(key))
  return { ...Object.fromEntries(same), ...(stop.length === 0 ? {} : { stop }) }
}
