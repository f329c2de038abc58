// An answer as a response object and its output items.
import type { Block } from 'everlong'
import { isText, isThinking, isToolUse, type JsonObject, stringAt } from 'everlong/internal'
import { promptTokens, type Sampling } from '../../answer/usage.ts'
import type { Ids } from '../../ports.ts'
import type { Completed } from '../complete.ts'
import { type Callable, callablesOf } from './tools.ts'

export type ItemPorts = { readonly ids: Ids; readonly seal: (text: string) => string }

/** Text, calls and reasoning as separate items, in order. */
export function outputItems(content: readonly Block[], body: JsonObject, ports: ItemPorts): readonly JsonObject[] {
  const callables = callablesOf(body.tools)
  const showsSummary = stringAt(body.reasoning, 'summary') !== undefined
  return content.flatMap((block): readonly JsonObject[] => {
    if (isText(block)) return [messageItem(block.text, ports)]
    if (isToolUse(block)) return [callItem(block, callables.get(block.name), ports)]
    if (block.type === 'compaction') return [compactionItem(String(block.content), ports)]
    return isThinking(block) ? [reasoningItem(String(block.thinking ?? ''), showsSummary, ports)] : []
  })
}

function messageItem(text: string, { ids }: ItemPorts): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { id: ids('msg'), type: 'message', status: 'completed', role: 'assistant', content }
}

function reasoningItem(text: string, showsSummary: boolean, { ids, seal }: ItemPorts): JsonObject {
  const summary = showsSummary ? [{ type: 'summary_text', text }] : []
  return { id: ids('rs'), type: 'reasoning', summary, encrypted_content: seal(text) }
}

function compactionItem(text: string, { ids, seal }: ItemPorts): JsonObject {
  return { id: ids('cmp'), type: 'compaction', encrypted_content: seal(text) }
}

type Call = { readonly id: string; readonly name: string; readonly input: unknown }

function callItem({ id, name, input }: Call, callable: Callable | undefined, { ids }: ItemPorts): JsonObject {
  const named = { call_id: id, name: callable?.name ?? name }
  const placed = callable?.namespace === undefined ? named : { ...named, namespace: callable.namespace }
  if (callable?.type !== 'custom') {
    return { id: ids('fc'), type: 'function_call', status: 'completed', arguments: JSON.stringify(input), ...placed }
  }
  const words = typeof input === 'string' ? input : (stringAt(input, 'input') ?? JSON.stringify(input))
  return { id: ids('ctc'), type: 'custom_tool_call', status: 'completed', input: words, ...placed }
}

export type Answered = Completed & {
  readonly id: string
  readonly created: number
  readonly body: JsonObject
  readonly output: readonly JsonObject[]
}

export function responseBody(answered: Answered): JsonObject {
  const { stopReason } = answered.finished
  const isCut = stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded'
  return {
    ...emptyResponse(answered),
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: answered.output,
    usage: responseUsage(answered.sampling),
  }
}

/** The response before its first content. */
export function emptyResponse({ id, created, body }: Pick<Answered, 'id' | 'created' | 'body'>): JsonObject {
  return {
    id,
    object: 'response',
    created_at: created,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: body.model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    service_tier: 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    usage: null,
  }
}

export function responseUsage(sampling: Sampling): JsonObject {
  const input = promptTokens(sampling)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: sampling.read },
    output_tokens: sampling.output,
    output_tokens_details: { reasoning_tokens: sampling.thinking },
    total_tokens: input + sampling.output,
  }
}
