// The body of a request to the Messages API. The same request gives the same bytes: keys in one order, nothing added that
// was not asked for, messages without what only we know of them.
import { modelFacts } from '../../core/catalog/models.ts'
import type { JsonObject } from '../../core/message/json.ts'
import type { ModelRequest } from '../../core/ports/model.ts'
import { withLegalCalls } from '../../core/request/tool-ids.ts'

export type BodyDefaults = { readonly model: string; readonly maxTokens?: number }

/** Enough for an answer, and little enough that earlier models, which refuse input + output over the window, have room. */
const usualMaxTokens = 32_000

export function messageBody(request: ModelRequest, defaults: BodyDefaults): JsonObject {
  const model = request.model || defaults.model
  return {
    ...promptOf(request, model),
    max_tokens: request.maxTokens ?? defaults.maxTokens ?? maxTokensOf(model),
    ...request.options,
    stream: true,
    ...betasOf(request),
  }
}

/** Counting takes the prompt and what changes it, and refuses the rest. */
const countedOptions = [
  'cache_control',
  'compaction',
  'context_management',
  'mcp_servers',
  'output_config',
  'speed',
  'tool_choice',
]

export function countBody(request: ModelRequest, defaults: BodyDefaults): JsonObject {
  const options = Object.entries(request.options ?? {}).filter(([key]) => countedOptions.includes(key))
  const model = request.model || defaults.model
  return { ...promptOf(request, model), ...Object.fromEntries(options), ...betasOf(request) }
}

function promptOf({ system, tools, messages, thinking }: ModelRequest, model: string): JsonObject {
  return {
    model,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages: withLegalCalls(messages).map(({ role, content }) => ({ role, content })),
    ...(thinking === undefined ? {} : { thinking }),
  }
}

function betasOf({ betas = [] }: ModelRequest): JsonObject {
  return betas.length === 0 ? {} : { betas: [...new Set(betas)] }
}

function maxTokensOf(model: string): number {
  return Math.min(usualMaxTokens, modelFacts(model)?.maxOutput ?? usualMaxTokens)
}
