// A model of any OpenAI-compatible server, through the official SDK: hosted, a gateway, or local. Uses chat completions, which
// every server has, or the Responses API. The SDK is an optional peer.
import { modelFacts } from '../../core/catalog/models.ts'
import { arrayAt, defined, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import { type ModelCapabilities, type ModelClient, noCapabilities } from '../../core/ports/model.ts'
import { createSdkClient, type SdkOptions } from '../sdk.ts'
import { ChatAccumulator } from './accumulate.ts'
import { type ChatDefaults, chatBody } from './body.ts'
import { ResponsesAccumulator, responsesBody } from './responses.ts'

export type OpenAIOptions = SdkOptions & {
  readonly model: string
  /** `responses` for models that exist only in the Responses API. Default: `chat`, for chat completions. */
  readonly api?: 'chat' | 'responses'
  /** Includes `/v1` if the server has it. Default: the SDK's own. */
  readonly baseURL?: string
  /** Default: `OPENAI_API_KEY`. Not needed with a `baseURL`, because local servers do not ask for one. */
  readonly apiKey?: string
  /** The limit for requests without one. Default: the server decides. */
  readonly maxTokens?: number
  /** The name of the limit. Default: `max_tokens`, which every server knows, except at OpenAI itself. */
  readonly maxTokensField?: ChatDefaults['maxTokensField']
  /** Fields added at the end of every body. */
  readonly body?: JsonObject
  /** A client of the SDK that the host created. It then decides on `apiKey`, `baseURL`, `fetch` and `silenceMs`. */
  readonly client?: OpenAILike
}

/** The part of the SDK's client that is used. */
export type OpenAILike = {
  readonly baseURL?: string
  readonly chat: {
    readonly completions: { readonly create: (body: never, options?: never) => PromiseLike<unknown> }
  }
  readonly responses?: { readonly create: (body: never, options?: never) => PromiseLike<unknown> }
  readonly models?: { readonly list: (options?: never) => PromiseLike<unknown> }
}

export function openai(options: OpenAIOptions): ModelClient {
  const apiKey = options.apiKey ?? (options.baseURL === undefined ? undefined : 'none')
  const isResponses = options.api === 'responses'
  return createSdkClient<OpenAILike>(
    { ...options, ...defined({ apiKey }) },
    {
      provider: 'openai',
      name: 'openai',
      publicEndpoint: 'https://api.openai.com/v1',
      make: async (setup) => new (await import('openai')).default(setup),
      bodyOf: (request, endpoint) =>
        isResponses
          ? responsesBody(request, options)
          : chatBody(request, { maxTokensField: fieldFor(endpoint), ...options }),
      open: ({ chat, responses }, body, per) => {
        if (!isResponses) return chat.completions.create(body as never, per as never)
        if (!responses)
          throw new TypeError('openai(): this client has no `responses`; leave out `api`, or use a newer one.')
        return responses.create(body as never, per as never)
      },
      accumulator: () => (isResponses ? new ResponsesAccumulator() : new ChatAccumulator()),
      catalog: fromCatalog,
      // Lists models instead of asking for one, because a name with a slash does not work in a path.
      describe: async ({ models }, model, per) => {
        const listed = arrayAt(await models?.list(per as never), 'data')
        const info = listed.find((one) => stringAt(one, 'id') === model)
        return info === undefined ? undefined : limitsIn(info)
      },
    },
  )
}

/** Names that servers use; the API itself has no field for a window. */
const windowFields = [
  'max_model_len',
  'loaded_context_length',
  'context_length',
  'context_window',
  'max_context_length',
  'max_input_tokens',
  'n_ctx',
]
const outputFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']

function limitsIn(info: unknown): Partial<ModelCapabilities> {
  const places = [info, objectAt(info, 'top_provider'), objectAt(info, 'meta')]
  const read = (fields: readonly string[]): number | undefined =>
    places
      .flatMap((place) => fields.map((field) => numberAt(place, field)))
      .find((value) => value !== undefined && value > 0)
  return defined({ window: read(windowFields), maxOutput: read(outputFields) })
}

/** OpenAI's current models refuse the old name, and almost no other server knows the new one. */
function fieldFor(endpoint: string): ChatDefaults['maxTokensField'] {
  const isOwn = /^https?:\/\/(?:api\.openai\.com|[^/]*\.openai\.azure\.com)(?:[:/]|$)/.test(endpoint)
  return isOwn ? 'max_completion_tokens' : 'max_tokens'
}

/** Most servers cache prefixes without being asked. */
function fromCatalog(model: string): ModelCapabilities {
  const { window, maxOutput } = modelFacts(model) ?? {}
  return { ...noCapabilities, ...defined({ window, maxOutput }), promptCache: true }
}
