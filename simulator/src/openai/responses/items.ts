// Items of a Responses request as messages of the Messages API, which the rest of the simulator understands.
import type { Block } from 'everlong'
import { isObject, type JsonObject, stringAt } from 'everlong/internal'
import type { InputMessage } from '../../request/request.ts'
import { type ChatProblem, chatProblem } from '../problem.ts'
import { inputOf } from '../read.ts'
import { toolNameOf } from './tools.ts'

/** Opens text that the simulator sealed. Undefined for any other. */
export type Unseal = (sealed: string) => string | undefined

type Read = { readonly role: InputMessage['role']; readonly content: readonly Block[] }

export function messageOf(item: JsonObject, index: number, unseal: Unseal): InputMessage | ChatProblem {
  const read = readItem(item, unseal)
  if ('status' in read) return { ...read, param: read.param ?? `input[${index}]` }
  return { ...read, index, isString: typeof item.content === 'string' }
}

export function isMessage(item: JsonObject): boolean {
  return item.type === 'message' || (item.type === undefined && 'role' in item)
}

export function isCall(item: JsonObject): boolean {
  return typeof item.call_id === 'string' && String(item.type).endsWith('_call')
}

export function isOutput(item: JsonObject): boolean {
  return typeof item.call_id === 'string' && String(item.type).endsWith('_output')
}

function readItem(item: JsonObject, unseal: Unseal): Read | ChatProblem {
  if (isMessage(item)) return readMessage(item)
  if (isCall(item)) return { role: 'assistant', content: [toolUse(item)] }
  if (isOutput(item)) {
    const content = typeof item.output === 'string' ? textParts(item.output) : partsOf(item.output)
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: String(item.call_id), content }] }
  }
  if (item.type === 'reasoning') {
    const thinking = sealedText(item, unseal)
    return typeof thinking === 'string' ? { role: 'assistant', content: [{ type: 'thinking', thinking }] } : thinking
  }
  if (item.type === 'compaction') {
    const content = sealedText(item, unseal)
    return typeof content === 'string' ? { role: 'user', content: [{ type: 'compaction', content }] } : content
  }
  return chatProblem(`Invalid value: '${String(item.type)}'.`, null, 'invalid_value')
}

const roles = { user: 'user', assistant: 'assistant', system: 'system', developer: 'system' } as const

function readMessage(item: JsonObject): Read | ChatProblem {
  const role = roles[String(item.role) as keyof typeof roles]
  if (role !== undefined) return { role, content: partsOf(item.content) }
  const list = "'assistant', 'system', 'developer', and 'user'"
  return chatProblem(`Invalid value: '${String(item.role)}'. Supported values are: ${list}.`, null, 'invalid_value')
}

function sealedText(item: JsonObject, unseal: Unseal): string | ChatProblem {
  const sealed = stringAt(item, 'encrypted_content')
  if (sealed === undefined) {
    const why = `Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false.`
    return { ...chatProblem(why, 'input', null), status: 404 }
  }
  const message = `The encrypted content for item ${String(item.id)} could not be verified.`
  return unseal(sealed) ?? chatProblem(message, null, 'invalid_encrypted_content')
}

/** A call that is not a function has its action in a separate field. */
function toolUse(item: JsonObject): Block {
  const input = typeof item.arguments === 'string' ? inputOf(item.arguments) : { input: item.input ?? item.action }
  return { type: 'tool_use', id: String(item.call_id), name: toolNameOf(item), input }
}

function textParts(text: string): readonly Block[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

export function partsOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return textParts(content)
  if (!Array.isArray(content)) return []
  return content.filter(isObject).flatMap((part): readonly Block[] => {
    const text = stringAt(part, 'text') ?? stringAt(part, 'refusal')
    if (text !== undefined) return textParts(text)
    if (part.type === 'input_image') return [{ type: 'image', source: { type: 'url', url: String(part.image_url) } }]
    return [{ type: 'text', text: JSON.stringify(part) }]
  })
}
