// Checks a chat completion request and converts it to the simulator's form.
import type { Block } from 'everlong'
import { isObject, type JsonObject, type ModelFacts } from 'everlong/internal'
import { type InputMessage, type MessagesRequest, noExtensions } from '../request/request.ts'
import { type ChatProblem, chatProblem } from './problem.ts'

export type ChatRequest = { readonly request: MessagesRequest; readonly includesUsage: boolean }

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer']

export function readChat(
  body: unknown,
  factsOf: (model: string) => ModelFacts,
): ChatRequest | { readonly problem: ChatProblem } {
  const fields = isObject(body) ? body : {}
  const problem = checkRequired(fields) ?? checkMessages(fields.messages)
  if (problem) return { problem }
  const messages = Array.isArray(fields.messages) ? fields.messages.filter(isObject) : []
  const facts = factsOf(String(fields.model))
  const limit = fields.max_completion_tokens ?? fields.max_tokens
  const options = isObject(fields.stream_options) ? fields.stream_options : {}
  return {
    includesUsage: options.include_usage === true,
    request: {
      endpoint: 'create',
      model: String(fields.model),
      facts,
      maxTokens: typeof limit === 'number' ? limit : facts.maxOutput,
      stream: fields.stream === true,
      system: messages.filter(isInstruction).flatMap((message) => partsOf(message.content)),
      tools: (Array.isArray(fields.tools) ? fields.tools : []).flatMap(toolOf),
      messages: messages.filter((message) => !isInstruction(message)).map(inputMessage),
      thinking: { type: 'disabled' },
      stopSequences: [fields.stop ?? []].flat().map(String),
      automaticMark: undefined,
      betas: new Set(),
      extensions: noExtensions,
      body: { tool_choice: fields.tool_choice },
    },
  }
}

function checkRequired(fields: JsonObject): ChatProblem | undefined {
  for (const name of ['model', 'messages']) {
    if (fields[name] === undefined) {
      return chatProblem(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter')
    }
  }
  if (!Array.isArray(fields.messages)) {
    return chatProblem("Invalid type for 'messages': expected an array of objects.", 'messages', 'invalid_type')
  }
  if (fields.messages.length > 0) return undefined
  const rule = 'empty array. Expected an array with minimum length 1, but got an empty array instead.'
  return chatProblem(`Invalid 'messages': ${rule}`, 'messages', 'empty_array')
}

function checkMessages(value: unknown): ChatProblem | undefined {
  const messages: readonly JsonObject[] = Array.isArray(value) ? value.filter(isObject) : []
  let open: readonly string[] = []
  for (const [at, message] of messages.entries()) {
    const role = String(message.role)
    const param = `messages.[${at}].role`
    if (!roles.includes(role)) {
      const list = roles.map((name) => `'${name}'`).join(', ')
      return chatProblem(`Invalid value: '${role}'. Supported values are: ${list}.`, param, 'invalid_value')
    }
    if (role === 'tool') {
      if (!open.includes(String(message.tool_call_id))) return chatProblem(strayTool, param, null)
      open = open.filter((id) => id !== message.tool_call_id)
    } else if (open.length > 0) {
      return chatProblem(`${unanswered} ${open.join(', ')}`, param, null)
    }
    if (role === 'assistant') open = callsOf(message).map((call) => String(call.id))
  }
  return open.length === 0 ? undefined : chatProblem(`${unanswered} ${open.join(', ')}`, 'messages', null)
}

const strayTool =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
const unanswered =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
  'The following tool_call_ids did not have response messages:'

function callsOf(message: JsonObject): readonly JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

function isInstruction(message: JsonObject): boolean {
  return message.role === 'system' || message.role === 'developer'
}

function inputMessage(message: JsonObject, index: number): InputMessage {
  const isString = typeof message.content === 'string'
  if (message.role === 'tool') {
    const result = { type: 'tool_result', tool_use_id: String(message.tool_call_id), content: partsOf(message.content) }
    return { role: 'user', index, isString, content: [result] }
  }
  const content = [...partsOf(message.content), ...callsOf(message).map(toolUse)]
  return { role: message.role === 'assistant' ? 'assistant' : 'user', index, isString, content }
}

function partsOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.filter(isObject).map((part): Block => {
    if (typeof part.text === 'string') return { type: 'text', text: part.text }
    const image = isObject(part.image_url) ? String(part.image_url.url) : ''
    return { type: 'image', source: { type: 'url', url: image } }
  })
}

function toolUse(call: JsonObject): Block {
  const named = isObject(call.function) ? call.function : {}
  return { type: 'tool_use', id: String(call.id), name: String(named.name), input: inputOf(named.arguments) }
}

/** Models sometimes write broken JSON, and the API passes it on, so it is not refused. */
export function inputOf(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return { arguments: text }
  }
}

function toolOf(tool: unknown): readonly JsonObject[] {
  const named = isObject(tool) && isObject(tool.function) ? tool.function : undefined
  if (named === undefined) return []
  return [{ name: named.name, description: named.description, input_schema: named.parameters ?? { type: 'object' } }]
}
