// A model of the Messages API, through the official SDK: streams, counts, and asks about models. The SDK is an optional peer. The
// same request gives the same bytes: keys in a fixed order, and no additions.
import { modelFacts } from '../../core/catalog/models.ts'
import { defined, type JsonObject, numberAt, objectAt } from '../../core/message/json.ts'
import { type ModelCapabilities, type ModelClient, type ModelRequest, noCapabilities } from '../../core/ports/model.ts'
import { legalRequest } from '../../core/request/legal-request.ts'
import { createSdkClient, type SdkOptions } from '../sdk.ts'
import { MessageAccumulator } from './accumulate.ts'

export type AnthropicOptions = SdkOptions & {
  readonly model: string
  /** Default: `ANTHROPIC_API_KEY`, or another source that the SDK knows. */
  readonly apiKey?: string
  readonly baseURL?: string
  /** The limit for requests without one. Default: 32,000, or the model's maximum if that is less. */
  readonly maxTokens?: number
  /**
   * A client of the SDK that the host created, for another backend or another way to sign in. It then decides on `apiKey`,
   * `baseURL`, `fetch` and `silenceMs`.
   */
  readonly client?: AnthropicLike
}

/** The part of the SDK's client that is used. */
export type AnthropicLike = {
  readonly baseURL?: string
  readonly beta: {
    readonly messages: {
      readonly create: (body: never, options?: never) => PromiseLike<unknown>
      readonly countTokens?: (body: never, options?: never) => PromiseLike<unknown>
    }
    readonly models?: { readonly retrieve: (id: string, params?: never, options?: never) => PromiseLike<unknown> }
  }
}

export function anthropic(options: AnthropicOptions): ModelClient {
  return createSdkClient<AnthropicLike>(options, {
    provider: 'anthropic',
    name: '@anthropic-ai/sdk',
    publicEndpoint: 'https://api.anthropic.com',
    make: async (setup) => new (await import('@anthropic-ai/sdk')).default(setup),
    bodyOf: (request) => messageBody(request, options),
    open: ({ beta }, body, per) => beta.messages.create(body as never, per as never),
    accumulator: () => new MessageAccumulator(),
    catalog: fromCatalog,
    describe: async ({ beta }, model, per) =>
      fromModelInfo(await beta.models?.retrieve(model, {} as never, per as never)),
    count: async ({ beta }, body, per) =>
      numberAt(await beta.messages.countTokens?.(countedPart(body) as never, per as never), 'input_tokens'),
  })
}

type BodyDefaults = Pick<AnthropicOptions, 'model' | 'maxTokens'>

/** Enough for an answer, and small enough for earlier models, which refuse a request if input + output exceed the window. */
const defaultMaxTokens = 32_000

export function messageBody(given: ModelRequest, defaults: BodyDefaults): JsonObject {
  const request = legalRequest(given)
  const { system, tools, thinking, betas = [] } = request
  const model = request.model || defaults.model
  const { maxOutput = defaultMaxTokens } = modelFacts(model) ?? {}
  return {
    ...defined({
      model,
      system,
      tools,
      messages: request.messages.map(({ role, content }) => ({ role, content })),
      thinking,
    }),
    max_tokens: request.maxTokens ?? defaults.maxTokens ?? Math.min(defaultMaxTokens, maxOutput),
    ...request.options,
    stream: true,
    ...(betas.length === 0 ? {} : { betas: [...new Set(betas)] }),
  }
}

/** The fields that the API accepts for counting. It refuses others. */
const countedFields = ['model', 'system', 'tools', 'messages', 'thinking', 'tool_choice', 'context_management', 'betas']

function countedPart(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => countedFields.includes(name)))
}

/** A model that is not in the catalog may be behind a gateway, so no special features are used. */
export function fromCatalog(model: string): ModelCapabilities {
  const facts = modelFacts(model)
  if (facts === undefined) return { ...noCapabilities, promptCache: true }
  const { window, maxOutput, compaction } = facts
  return { ...noCapabilities, window, maxOutput, contextManagement: true, compaction, promptCache: true }
}

/** Reads the answer of the Models API. */
function fromModelInfo(info: unknown): Partial<ModelCapabilities> {
  const stated = objectAt(info, 'capabilities')
  const management = objectAt(stated, 'context_management')
  const byThreshold = objectAt(management, 'compact_20260112')?.supported === true ? 'by-threshold' : 'none'
  const isOnDemand = objectAt(stated, 'compaction')?.supported === true
  const limits = { window: numberAt(info, 'max_input_tokens'), maxOutput: numberAt(info, 'max_tokens') }
  return {
    ...defined({ ...limits, contextManagement: management && management.supported === true }),
    ...(stated ? { compaction: isOnDemand ? 'on-demand' : byThreshold } : {}),
  }
}
