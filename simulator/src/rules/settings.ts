// Rules about parameters besides the messages: limits, stop sequences, the choice of a tool.
import { isObject } from 'everlong/internal'
import { invalid, type Problem } from '../http/problem.ts'
import type { MessagesRequest } from '../request/request.ts'

export function fitsOutputLimit(request: MessagesRequest): Problem | undefined {
  const limit = request.facts.maxOutput
  if (request.maxTokens <= limit) return undefined
  const rule = `which is the maximum allowed number of output tokens for ${request.model}`
  return invalid(`max_tokens: ${request.maxTokens} > ${limit}, ${rule}`)
}

/** `max_tokens: 0` reads the prompt into the cache without an answer, so nothing may ask for output. */
export function warmsOnly(request: MessagesRequest): Problem | undefined {
  if (request.maxTokens > 0 || request.endpoint === 'count') return undefined
  const choice = request.body.tool_choice
  const forced = isObject(choice) && (choice.type === 'any' || choice.type === 'tool')
  const output = request.body.output_config
  const [field] = [
    request.stream ? 'stream' : undefined,
    request.thinking?.type === 'enabled' ? 'thinking.type.enabled' : undefined,
    isObject(output) && output.format ? 'output_config.format' : undefined,
    forced ? 'tool_choice' : undefined,
  ].filter((name) => name !== undefined)
  return field === undefined ? undefined : invalid(`max_tokens: 0 cannot be combined with \`${field}\``)
}

export function stopsAtSomething(request: MessagesRequest): Problem | undefined {
  const isBlank = request.stopSequences.some((sequence) => sequence.trim() === '')
  return isBlank ? invalid('stop_sequences: each stop sequence must contain non-whitespace') : undefined
}

export function choosesFromTools(request: MessagesRequest): Problem | undefined {
  const choice = request.body.tool_choice
  if (!isObject(choice)) return undefined
  if (request.tools.length === 0)
    return invalid(`tool_choice.${String(choice.type)} may only be specified while providing tools`)
  if (choice.type !== 'tool' || request.tools.some((tool) => tool.name === choice.name)) return undefined
  return invalid(`Tool '${String(choice.name)}' not found in provided tools`)
}

/** Effort came with Opus 4.5. */
export function triesAsItCan(request: MessagesRequest): Problem | undefined {
  const output = request.body.output_config
  const { id, thinking } = request.facts
  const takesEffort = id === 'claude-opus-4-5' || !['none', 'budget'].includes(thinking)
  if (takesEffort || !isObject(output) || !output.effort) return undefined
  return invalid('This model does not support the effort parameter.')
}

const samplingDefaults = { temperature: 1, top_p: undefined, top_k: undefined } as const

/** For 4.7 and later, with the API version that still has these parameters. */
export function samplesByItself(request: MessagesRequest): Problem | undefined {
  const { temperature } = request.body
  const isEnabled = request.thinking?.type === 'enabled'
  if (isEnabled && temperature !== undefined && temperature !== null && temperature !== samplingDefaults.temperature) {
    return invalid('`temperature` may only be set to 1 when thinking is enabled.')
  }
  if (!['adaptive', 'always'].includes(request.facts.thinking)) return undefined
  for (const [name, usual] of Object.entries(samplingDefaults)) {
    const value = request.body[name]
    if (value !== undefined && value !== null && value !== usual)
      return invalid(`\`${name}\` is deprecated for this model.`)
  }
  return undefined
}
