// What the clients on an SDK share: loading it with the first request, and running one request with retries and an
// abort signal that platforms understand.
import type { ModelCapabilities, ModelFailure, SendOptions } from '../core/ports/model.ts'
import { MissingPackage } from './failure.ts'
import type { Fetch } from './http.ts'
import type { ModelPorts } from './ports.ts'
import { defaultRetries, type FailedTry, type RetryPolicy, withRetries } from './retry.ts'

/** What every client on an SDK may be told. */
export type SdkOptions = {
  readonly fetch?: Fetch
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly retry?: Partial<RetryPolicy>
  /** A server that sends nothing for so long, headers or body, is given up on: five minutes unless told. */
  readonly silenceMs?: number
  /** Comes before what the catalog and the provider say: for gateways that can do more, or less. */
  readonly capabilities?: Partial<ModelCapabilities>
  readonly ports?: ModelPorts
}

export const defaultSilenceMs = 300_000

/** Handed to the SDK with each request. Its own retries would go unseen. */
export type PerRequest = {
  readonly signal: AbortSignal
  readonly maxRetries: 0
  readonly headers?: Readonly<Record<string, string>>
}

export type Caller = <T extends { readonly type: string }>(
  send: SendOptions,
  attempt: (per: PerRequest) => Promise<T | FailedTry>,
) => Promise<Exclude<T, FailedTry> | ModelFailure>

export function createCaller({ headers, retry }: SdkOptions, ports: ModelPorts): Caller {
  const policy = { ...defaultRetries, ...retry }
  return async (send, attempt) => {
    const { signal, release } = bridged(send)
    const per: PerRequest = { signal, maxRetries: 0, ...(headers === undefined ? {} : { headers }) }
    try {
      return await withRetries(() => attempt(per), { ...send, ports, policy })
    } finally {
      release()
    }
  }
}

/** A signal that platforms take, for as much of one as core hands on. */
function bridged({ signal: port }: SendOptions): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  if (port?.aborted) abort()
  port?.addEventListener('abort', abort, { once: true })
  return { signal: controller.signal, release: () => port?.removeEventListener('abort', abort) }
}

/** Loads once, with the first call; a load that failed is tried again with the next. */
export function loadedOnce<T>(name: string, load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return async () => {
    loading ??= load()
    try {
      return await loading
    } catch (error) {
      loading = undefined
      throw isMissing(error) ? new MissingPackage(name) : error
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
