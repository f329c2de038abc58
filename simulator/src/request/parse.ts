// Turns a body into a MessagesRequest. Checks the shape of everything, and nothing else.
import type { Block } from 'everlong'
import { isObject, type JsonObject, type ModelFacts } from 'everlong/internal'
import { fine, invalid, type Outcome, type Problem, refused } from '../http/problem.ts'
import { checkBlock, misplacedBlock, unknownTag } from './blocks.ts'
import { beta, checkFields } from './fields.ts'
import type { Extensions, InputMessage, InputRole, MessagesRequest, ThinkingSetting, Ttl } from './request.ts'
import { extraInput, oneOf } from './wording.ts'

export type ParseContext = {
  readonly endpoint: 'create' | 'count'
  /** For API version 2026-10-21 or later, which refuses more than 2023-06-01. */
  readonly isCurrent: boolean
  readonly betas: ReadonlySet<string>
  readonly extensions: Extensions
  readonly factsOf: (model: string) => ModelFacts | undefined
}

const maxMessages = 100_000

export function parseRequest(body: unknown, context: ParseContext): Outcome<MessagesRequest> {
  if (!isObject(body)) return refused(invalid('Input should be an object'))
  const problem = checkFields(body, context) ?? checkSystem(body.system)
  if (problem) return refused(problem)
  const model = String(body.model)
  const facts = context.factsOf(model)
  if (facts === undefined) return refused({ status: 404, type: 'not_found_error', message: `model: ${model}` })
  const messages = parseMessages(body.messages, { ...context, facts })
  if (!messages.ok) return messages
  return fine({
    endpoint: context.endpoint,
    model,
    facts,
    maxTokens: typeof body.max_tokens === 'number' ? body.max_tokens : 0,
    stream: body.stream === true,
    system: asBlocks(body.system),
    tools: Array.isArray(body.tools) ? body.tools.filter(isObject) : [],
    messages: messages.value,
    thinking: thinkingOf(body.thinking),
    stopSequences: Array.isArray(body.stop_sequences) ? body.stop_sequences.map(String) : [],
    automaticMark: ttlOf(body.cache_control),
    betas: context.betas,
    extensions: context.extensions,
    body,
  })
}

/** The lifetime in a `cache_control`. Undefined without a mark. */
export function ttlOf(mark: unknown): Ttl | undefined {
  if (!isObject(mark)) return undefined
  return mark.ttl === '1h' ? '1h' : '5m'
}

function thinkingOf(value: unknown): ThinkingSetting | undefined {
  return isObject(value) ? (value as ThinkingSetting) : undefined
}

function asBlocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as readonly Block[]) : []
}

function checkSystem(system: unknown): Problem | undefined {
  if (system === undefined || system === null || typeof system === 'string') return undefined
  if (!Array.isArray(system)) return invalid('system: Input should be a valid list')
  for (const [at, block] of system.entries()) {
    if (isObject(block) && block.type !== undefined && block.type !== 'text') {
      return invalid(`system.${at}.type: Input should be 'text'`)
    }
    const problem = checkBlock(block, `system.${at}`, { cacheEdits: false })
    // System blocks have one type only, so the API's paths do not name it.
    if (problem) return { ...problem, message: problem.message.replace(`system.${at}.text.`, `system.${at}.`) }
    if (isObject(block) && block.text === '') return invalid('system: text content blocks must be non-empty')
  }
  return undefined
}

type MessageContext = ParseContext & { readonly facts: ModelFacts }

function parseMessages(value: unknown, context: MessageContext): Outcome<readonly InputMessage[]> {
  const list = Array.isArray(value) ? value : []
  if (list.length > maxMessages) {
    const message = `messages: List should have at most ${maxMessages} items after validation, not ${list.length}`
    return refused(invalid(message))
  }
  const messages: InputMessage[] = []
  for (const [index, item] of list.entries()) {
    const problem = checkMessage(item, index, context)
    if (problem) return refused(problem)
    messages.push({
      role: item.role,
      content: asBlocks(item.content),
      index,
      isString: typeof item.content === 'string',
    })
  }
  return fine(messages)
}

const messageKeys = ['role', 'content']
const systemKeys = [...messageKeys, 'clear_at', 'output_config']
const needsBeta: Readonly<Record<string, string>> = {
  clear_at: beta.clearAt,
  output_config: beta.outputConfigMidway,
}

function checkMessage(message: unknown, index: number, context: MessageContext): Problem | undefined {
  const path = `messages.${index}`
  if (!isObject(message)) return invalid(`${path}: Input should be an object`)
  if (message.role === undefined) return invalid(`${path}.role: Field required`)
  const role = roleOf(message.role)
  if (role === undefined) return invalid(`${path}.role: Input should be ${oneOf(['user', 'assistant', 'system'])}`)
  if (role === 'system' && !context.facts.takesSystemMessages) return noSystemRole
  if (message.content === undefined && role !== 'system') return invalid(`${path}.content: Field required`)
  const extra = extraKey(message, role, context.betas)
  if (extra !== undefined) return invalid(`${path}.${extra}: ${extraInput}`)
  const clearing = message.clear_at ?? 'never'
  if (clearing !== 'never' && clearing !== 'next_user_message') {
    return invalid(`${path}.clear_at: Input should be ${oneOf(['next_user_message', 'never'])}`)
  }
  const content = message.content
  if (typeof content === 'string' || (content === undefined && role === 'system')) return undefined
  if (!Array.isArray(content)) return invalid(`${path}.content: Input should be a valid list`)
  for (const [at, block] of content.entries()) {
    const place = `${path}.content.${at}`
    const changesTools = isObject(block) && (block.type === 'tool_addition' || block.type === 'tool_removal')
    if (changesTools && !context.betas.has(beta.toolChanges)) return unknownTag(place, block.type)
    const problem =
      checkBlock(block, place, context.extensions) ??
      misplacedBlock(block, { role, path, place, isCurrent: context.isCurrent })
    if (problem) return problem
  }
  return undefined
}

function roleOf(role: unknown): InputRole | undefined {
  return role === 'user' || role === 'assistant' || role === 'system' ? role : undefined
}

const noSystemRole = invalid("role 'system' is not supported on this model")

function extraKey(message: JsonObject, role: InputRole, betas: ReadonlySet<string>): string | undefined {
  const allowed = role === 'system' ? systemKeys : messageKeys
  const lacksBeta = (key: string) => key in needsBeta && !betas.has(needsBeta[key] ?? '')
  return Object.keys(message).find((key) => !allowed.includes(key) || lacksBeta(key))
}
