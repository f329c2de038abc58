// A model behind the Messages API, through the official SDK: streams, counts, asks about models. The SDK is an optional
// peer, loaded with the first request; its own retries are off, so that every retry is told.
import { isObject, type JsonObject, numberAt } from '../../core/message/json.ts'
import type { CountedTokens, ModelClient } from '../../core/ports/model.ts'
import { createCapabilities } from '../capabilities.ts'
import { keepingFetch } from '../http.ts'
import { type ModelPorts, systemPorts } from '../ports.ts'
import { createCaller, defaultSilenceMs, loadedOnce, type PerRequest, type SdkOptions } from '../sdk.ts'
import { readStream, tryOnce } from '../stream.ts'
import { createAccumulator } from './accumulate.ts'
import { countBody, messageBody } from './body.ts'
import { fromCatalog, fromModelInfo } from './capabilities.ts'

export type AnthropicOptions = SdkOptions & {
  readonly model: string
  /** Else `ANTHROPIC_API_KEY` and whatever else the SDK looks for. */
  readonly apiKey?: string
  readonly baseURL?: string
  /** Of requests that name no limit: 32,000 unless told, or the model's own if that is less. */
  readonly maxTokens?: number
  /**
   * A client of the SDK that the host has made: another backend, another way to sign in. `apiKey`, `baseURL`, `fetch` and
   * `silenceMs` are then its own business.
   */
  readonly client?: AnthropicLike
}

/** As much of the SDK's client as is used. */
export type AnthropicLike = {
  readonly baseURL?: string
  readonly beta: {
    readonly messages: {
      readonly create: (body: never, options?: never) => PromiseLike<unknown>
      readonly countTokens: (body: never, options?: never) => PromiseLike<unknown>
    }
    readonly models?: { readonly retrieve: (id: string, params?: never, options?: never) => PromiseLike<unknown> }
  }
}

const publicEndpoint = 'https://api.anthropic.com'

export function anthropic(options: AnthropicOptions): ModelClient {
  const ports = options.ports ?? systemPorts
  const { capabilities: set } = options
  const book = createCapabilities({ catalog: fromCatalog, ...(set === undefined ? {} : { set }) })
  const load = loadedOnce('@anthropic-ai/sdk', async () => options.client ?? makeClient(options, ports))
  const call = createCaller(options, ports)
  const endpoint = options.client?.baseURL ?? options.baseURL ?? publicEndpoint
  const at = { ports, endpoint }
  return {
    provider: 'anthropic',
    model: options.model,
    endpoint,
    capabilities: (model) => book.of(model || options.model),
    send: async (request, send = {}) => {
      const body = messageBody(request, options)
      return call(send, (per) => {
        const reading = { ...send, ...at, signal: per.signal, accumulator: createAccumulator() }
        return readStream(() => openStream(load, body, per), reading)
      })
    },
    count: async (request, send = {}) => {
      const body = countBody(request, options)
      return call(send, (per) => tryOnce(() => countTokens(load, body, per), at))
    },
    describe: async (named, send = {}) => {
      const model = named || options.model
      const known = book.asked(model)
      if (known !== undefined) return { type: 'described', model, capabilities: known }
      const asked = await call(send, (per) => tryOnce(() => modelInfo(load, model, per), at))
      if (asked.type === 'failed') return asked
      return { type: 'described', model, capabilities: book.learn(model, fromModelInfo(asked.info)) }
    },
  }
}

type Load = () => Promise<AnthropicLike>

// The SDK's types know only the blocks of its own day; what a conversation holds is passed on as it stands.
async function openStream(load: Load, body: JsonObject, per: PerRequest): Promise<AsyncIterable<unknown>> {
  const { messages } = (await load()).beta
  return (await messages.create(body as never, per as never)) as AsyncIterable<unknown>
}

async function countTokens(load: Load, body: JsonObject, per: PerRequest): Promise<CountedTokens> {
  const { messages } = (await load()).beta
  const counted = await messages.countTokens(body as never, per as never)
  return { type: 'counted', tokens: numberAt(counted, 'input_tokens') ?? 0 }
}

async function modelInfo(load: Load, model: string, per: PerRequest) {
  const { models } = (await load()).beta
  const info = await models?.retrieve(model, {} as never, per as never)
  return { type: 'info' as const, info: isObject(info) ? info : {} }
}

async function makeClient(options: AnthropicOptions, ports: ModelPorts): Promise<AnthropicLike> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  return new Anthropic({
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
    fetch: keepingFetch(options.fetch, { ports, silenceMs: options.silenceMs ?? defaultSilenceMs }),
    maxRetries: 0,
    logLevel: 'off',
  })
}
