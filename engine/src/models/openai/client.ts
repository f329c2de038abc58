// A model behind any OpenAI-compatible server, through the official SDK: hosted, a gateway, or one on this machine. Only
// chat completions; the SDK is an optional peer, loaded with the first request, its own retries off.
import { modelFacts } from '../../core/catalog/models.ts'
import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from '../../core/message/json.ts'
import type { ModelCapabilities, ModelClient } from '../../core/ports/model.ts'
import { createCapabilities, noCapabilities } from '../capabilities.ts'
import { keepingFetch } from '../http.ts'
import { type ModelPorts, systemPorts } from '../ports.ts'
import { createCaller, defaultSilenceMs, loadedOnce, type PerRequest, type SdkOptions } from '../sdk.ts'
import { readStream, tryOnce } from '../stream.ts'
import { createChatAccumulator } from './accumulate.ts'
import { type ChatDefaults, chatBody } from './body.ts'

export type OpenAIOptions = SdkOptions & {
  readonly model: string
  /** Up to and including `/v1`, where the server has it. Left out: the SDK's own. */
  readonly baseURL?: string
  /** Else `OPENAI_API_KEY`. With a `baseURL` none is needed: local servers ask for none. */
  readonly apiKey?: string
  /** Of requests that name no limit; left out, the server decides. */
  readonly maxTokens?: number
  /** What a limit is called: `max_tokens`, which every server knows, except at OpenAI itself. */
  readonly maxTokensField?: ChatDefaults['maxTokensField']
  /** Put into every body, last. */
  readonly body?: JsonObject
  /** A client of the SDK that the host has made; `apiKey`, `baseURL`, `fetch` and `silenceMs` are then its business. */
  readonly client?: OpenAILike
}

/** As much of the SDK's client as is used. */
export type OpenAILike = {
  readonly baseURL?: string
  readonly chat: {
    readonly completions: { readonly create: (body: never, options?: never) => PromiseLike<unknown> }
  }
  readonly models?: { readonly list: (options?: never) => PromiseLike<unknown> }
}

const publicEndpoint = 'https://api.openai.com/v1'

export function openai(options: OpenAIOptions): ModelClient {
  const ports = options.ports ?? systemPorts
  const endpoint = options.client?.baseURL ?? options.baseURL ?? publicEndpoint
  const { capabilities: set } = options
  const book = createCapabilities({ catalog: fromCatalog, ...(set === undefined ? {} : { set }) })
  const load = loadedOnce('openai', async () => options.client ?? makeClient(options, ports))
  const call = createCaller(options, ports)
  const defaults = { maxTokensField: fieldFor(endpoint), ...options }
  const open = async (body: JsonObject, per: PerRequest) => {
    const { completions } = (await load()).chat
    return (await completions.create(body as never, per as never)) as AsyncIterable<unknown>
  }
  return {
    provider: 'openai',
    model: options.model,
    endpoint,
    capabilities: (model) => book.of(model || options.model),
    send: async (request, send = {}) => {
      const body = chatBody(request, defaults)
      return call(send, (per) => {
        const reading = { ...send, ports, endpoint, signal: per.signal, accumulator: createChatAccumulator() }
        return readStream(() => open(body, per), reading)
      })
    },
    describe: async (named, send = {}) => {
      const model = named || options.model
      const known = book.asked(model)
      if (known !== undefined) return { type: 'described', model, capabilities: known }
      const listed = await call(send, (per) => tryOnce(() => listModels(load, per), { ports, endpoint }))
      if (listed.type === 'failed') return listed
      const info = listed.models.find((one) => stringAt(one, 'id') === model)
      if (info === undefined)
        return { type: 'failed', reason: 'refused', message: `the server lists no ${model}`, tries: 1 }
      return { type: 'described', model, capabilities: book.learn(model, limitsIn(info)) }
    },
  }
}

/** Listed, not asked for by name: names with a slash get lost in a path. */
async function listModels(load: () => Promise<OpenAILike>, per: PerRequest) {
  const { models } = await load()
  return { type: 'listed' as const, models: arrayAt(await models?.list(per as never), 'data') }
}

/** What servers call it; the API itself has no word for a window. */
const windowFields = [
  'max_model_len',
  'loaded_context_length',
  'context_length',
  'context_window',
  'max_context_length',
  'max_input_tokens',
]
const outputFields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']

function limitsIn(info: unknown): Partial<ModelCapabilities> {
  const places = [info, objectAt(info, 'top_provider'), objectAt(info, 'meta')]
  const read = (fields: readonly string[]): number | undefined =>
    places
      .flatMap((place) => fields.map((field) => numberAt(place, field)))
      .find((value) => value !== undefined && value > 0)
  const window = read([...windowFields, 'n_ctx'])
  const maxOutput = read(outputFields)
  return { ...(window === undefined ? {} : { window }), ...(maxOutput === undefined ? {} : { maxOutput }) }
}

/** OpenAI's own models of today refuse the old name; nearly nobody else knows the new one. */
function fieldFor(endpoint: string): ChatDefaults['maxTokensField'] {
  const isOwn = /^https?:\/\/(?:api\.openai\.com|[^/]*\.openai\.azure\.com)(?:[:/]|$)/.test(endpoint)
  return isOwn ? 'max_completion_tokens' : 'max_tokens'
}

/** Prefixes are cached by most servers without being asked. */
function fromCatalog(model: string): ModelCapabilities {
  const facts = modelFacts(model)
  const known = facts === undefined ? {} : { window: facts.window, maxOutput: facts.maxOutput }
  return { ...noCapabilities, ...known, promptCache: true }
}

async function makeClient(options: OpenAIOptions, ports: ModelPorts): Promise<OpenAILike> {
  const { default: OpenAI } = await import('openai')
  const apiKey = options.apiKey ?? (options.baseURL === undefined ? undefined : 'none')
  return new OpenAI({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
    fetch: keepingFetch(options.fetch, { ports, silenceMs: options.silenceMs ?? defaultSilenceMs }),
    maxRetries: 0,
    logLevel: 'off',
  })
}
