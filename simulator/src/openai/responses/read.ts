// Checks a Responses request and converts it to the simulator's form.
import { isObject, type JsonObject, type ModelFacts } from 'everlong/internal'
import { type InputMessage, type MessagesRequest, noExtensions } from '../../request/request.ts'
import { type ChatProblem, chatProblem } from '../problem.ts'
import { brokenItems } from './check.ts'
import { messageOf, partsOf, type Unseal } from './items.ts'
import type { StoredResponses } from './stored.ts'
import { toolsOf } from './tools.ts'

export type ResponsesRequest = {
  readonly request: MessagesRequest
  /** Everything that the model reads, including items that the server stored. */
  readonly items: readonly JsonObject[]
  readonly body: JsonObject
  /** The input ends with a trigger: the answer is a summary of everything before it. */
  readonly isCompaction: boolean
}

export type ReadPorts = {
  readonly factsOf: (model: string) => ModelFacts
  readonly unseal: Unseal
  readonly stored: StoredResponses
}

export function readResponses(value: unknown, ports: ReadPorts): ResponsesRequest | { readonly problem: ChatProblem } {
  const body = isObject(value) ? value : {}
  const problem = checkRequired(body)
  if (problem) return { problem }
  const held = ports.stored.before(body.previous_response_id)
  if ('status' in held) return { problem: held }
  const given = itemsIn(body.input)
  const isCompaction = given.at(-1)?.type === compactionTrigger
  const items = [...held, ...given.filter(({ type }) => type !== compactionTrigger)]
  const broken = brokenItems(items, ports.stored.reasoningOf)
  if (broken) return { problem: broken }
  const read = items.map((item, at) => messageOf(item, at, ports.unseal))
  const failed = read.find((one) => 'status' in one)
  if (failed) return { problem: failed }
  const messages = read.filter((one) => 'role' in one)
  return { request: requestOf(body, messages, ports), items, body, isCompaction }
}

const compactionTrigger = 'compaction_trigger'

function checkRequired(body: JsonObject): ChatProblem | undefined {
  const missing = (name: string) =>
    chatProblem(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter')
  if (typeof body.model !== 'string' || body.model === '') return missing('model')
  if (typeof body.input === 'string' || Array.isArray(body.input)) return undefined
  return body.previous_response_id === undefined ? missing('input') : undefined
}

function itemsIn(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}

function requestOf(body: JsonObject, messages: readonly InputMessage[], ports: ReadPorts): MessagesRequest {
  const facts = ports.factsOf(String(body.model))
  const reasoning = isObject(body.reasoning) ? body.reasoning : {}
  // Instructions before the conversation are the system prompt; later instructions keep their place.
  const start = messages.findIndex(({ role }) => role !== 'system')
  const leading = start < 0 ? messages : messages.slice(0, start)
  return {
    endpoint: 'create',
    model: String(body.model),
    facts,
    maxTokens: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : facts.maxOutput,
    stream: body.stream === true,
    system: [...partsOf(body.instructions), ...leading.flatMap(({ content }) => content)],
    tools: toolsOf(body.tools),
    messages: messages.slice(leading.length),
    thinking: reasoning.effort === 'none' ? { type: 'disabled' } : { type: 'adaptive', display: 'summarized' },
    stopSequences: [],
    automaticMark: undefined,
    betas: new Set(),
    extensions: noExtensions,
    body: { tool_choice: body.tool_choice },
  }
}
