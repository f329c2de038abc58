// Shared parts of the clients on an SDK: loading it with the first request, retrying, and knowing the abilities of its models.
// The SDK's own retries are off, so that every retry is reported.
import { defined, type JsonObject } from '../core/message/json.ts'
import type { ModelCapabilities, ModelClient, ModelFailure, SendOptions } from '../core/ports/model.ts'
import { type Fetch, keepingFetch } from './http.ts'
import { type ModelPorts, systemPorts } from './ports.ts'
import { defaultRetries, type FailedTry, type RetryPolicy, withRetries } from './retry.ts'
import { type Accumulator, failedTry, MissingPackage, readStream } from './stream.ts'

export type SdkOptions = {
  readonly fetch?: Fetch
  readonly headers?: Readonly<Record<string, string>>
  readonly retry?: Partial<RetryPolicy>
  /** How long a server may send nothing, headers or body, before the request fails. Default: five minutes. */
  readonly silenceMs?: number
  /** Overrides the catalog and the provider, for gateways with other abilities. */
  readonly capabilities?: Partial<ModelCapabilities>
  readonly ports?: ModelPorts
}

const defaultSilenceMs = 300_000

type ClientOptions<Client> = SdkOptions & {
  readonly model: string
  readonly apiKey?: string
  readonly baseURL?: string
  readonly client?: Client
}

/** Passed to the SDK with each request. Its types are not used, because they lack newer blocks. */
export type PerRequest = {
  readonly signal: AbortSignal
  readonly maxRetries: 0
  readonly headers?: SdkOptions['headers']
}

export type SdkSetup = {
  readonly apiKey?: string
  readonly baseURL?: string
  readonly fetch: Fetch
  readonly maxRetries: 0
  readonly logLevel: 'off'
}

type Sdk<Client> = {
  readonly provider: string
  /** The npm package. */
  readonly name: string
  readonly publicEndpoint: string
  readonly make: (setup: SdkSetup) => Promise<Client>
  readonly bodyOf: (request: Parameters<ModelClient['send']>[0], endpoint: string) => JsonObject
  readonly open: (client: Client, body: JsonObject, per: PerRequest) => PromiseLike<unknown>
  readonly accumulator: () => Accumulator
  readonly catalog: (model: string) => ModelCapabilities
  /** The provider's facts about a model. Undefined if it has no such model. */
  readonly describe: (client: Client, model: string, per: PerRequest) => Promise<Partial<ModelCapabilities> | undefined>
  /** The input tokens of a request. Undefined if the server does not report them. */
  readonly count?: (client: Client, body: JsonObject, per: PerRequest) => Promise<number | undefined>
}

export function createSdkClient<Client>(
  options: ClientOptions<Client> & { readonly client?: { readonly baseURL?: string } },
  sdk: Sdk<Client>,
): ModelClient {
  const { ports = systemPorts, silenceMs = defaultSilenceMs, apiKey, baseURL } = options
  const endpoint = options.client?.baseURL ?? baseURL ?? sdk.publicEndpoint
  const fetch = keepingFetch(options.fetch, { ports, silenceMs })
  const setup = { ...defined({ apiKey, baseURL }), fetch, maxRetries: 0, logLevel: 'off' } as const
  const load = loadedOnce(sdk.name, async () => options.client ?? sdk.make(setup))
  const call = createCaller(options, ports)
  /** Gets one value from the server. An error becomes a failure. */
  const ask = <T>(send: SendOptions, question: (client: Client, per: PerRequest) => Promise<T>) =>
    call(send, async (per) => {
      try {
        return { type: 'asked', value: await question(await load(), per) } as const
      } catch (error) {
        return failedTry(error, { now: ports.now(), endpoint })
      }
    })
  const learned = new Map<string, Partial<ModelCapabilities>>()
  const capabilities = (named: string): ModelCapabilities => {
    const model = named || options.model
    return { ...sdk.catalog(model), ...learned.get(model), ...options.capabilities }
  }
  return {
    provider: sdk.provider,
    model: options.model,
    endpoint,
    capabilities,
    send: async (request, send = {}) => {
      const body = sdk.bodyOf(request, endpoint)
      return call(send, (per) =>
        readStream(async () => (await sdk.open(await load(), body, per)) as AsyncIterable<unknown>, {
          ...send,
          ports,
          endpoint,
          signal: per.signal,
          accumulator: sdk.accumulator(),
        }),
      )
    },
    describe: async (named, send = {}) => {
      const model = named || options.model
      if (!learned.has(model)) {
        const asked = await ask(send, (client, per) => sdk.describe(client, model, per))
        if (asked.type === 'failed') return asked
        if (!asked.value) return refused(`the server lists no ${model}`)
        learned.set(model, asked.value)
      }
      return { type: 'described', model, capabilities: capabilities(model) }
    },
    ...(sdk.count && {
      count: async (request, send = {}) => {
        const body = sdk.bodyOf(request, endpoint)
        const asked = await ask(send, async (client, per) => sdk.count?.(client, body, per))
        if (asked.type === 'failed') return asked
        return asked.value === undefined
          ? refused('the server does not count')
          : { type: 'counted', inputTokens: asked.value }
      },
    }),
  }
}

function refused(message: string): ModelFailure {
  return { type: 'failed', reason: 'refused', message, tries: 1 }
}

/** Sends with retries. Core's signal is not an AbortSignal, so each request gets one that follows it. */
export function createCaller({ headers, retry }: SdkOptions, ports: ModelPorts) {
  const policy = { ...defaultRetries, ...retry }
  return async <T extends { readonly type: string }>(
    send: SendOptions,
    attempt: (per: PerRequest) => Promise<T | FailedTry>,
  ) => {
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    if (send.signal?.aborted) abort()
    send.signal?.addEventListener('abort', abort, { once: true })
    const per: PerRequest = { signal: controller.signal, maxRetries: 0, ...defined({ headers }) }
    try {
      return await withRetries<T>(() => attempt(per), { ...send, ports, policy })
    } finally {
      send.signal?.removeEventListener('abort', abort)
    }
  }
}

/** Loads once, with the first call. A failed load is tried again with the next call. */
export function loadedOnce<T>(name: string, load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return async () => {
    loading ??= load()
    try {
      return await loading
    } catch (error) {
      loading = undefined
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
      throw isMissing ? new MissingPackage(name) : error
    }
  }
}
