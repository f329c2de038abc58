// Retries for minutes if the provider is overloaded or unreachable: for a turn or a compaction, while the person sees it.
// Background requests keep the client's few quick retries, because nobody waits for them.
import type { ModelClient, ModelRequest, StreamEvent } from 'everlong'
import type { RetryPolicy } from 'everlong/internal'
import type { AgentEvent } from '../app.ts'

export const defaultRetryMinutes = 10

type Retry = Partial<RetryPolicy>

/** `make` creates a client with this policy, or with its own. `minutes: 0` never repeats a request. */
export function patientClient(
  make: (retry?: Retry) => ModelClient,
  minutes: number = defaultRetryMinutes,
): ModelClient {
  const quick = make()
  const patient = make({
    retries: Number.POSITIVE_INFINITY,
    totalMs: minutes * 60_000,
    firstWaitMs: 1_000,
    maxWaitMs: 30_000,
  })
  return {
    ...quick,
    send: (request, options) => (isForeground(request) ? patient : quick).send(request, options),
  }
}

function isForeground({ source }: ModelRequest): boolean {
  return source === 'turn' || source === 'compact'
}

export type RetryEvent = Extract<AgentEvent, { readonly type: 'retrying' | 'retry-over' }>

/** The same client, which reports when a request waits for a retry and when the wait ends. */
export function reportingRetries(client: ModelClient, report: (event: RetryEvent) => void): ModelClient {
  return {
    ...client,
    send: async (request, options = {}) => {
      if (!isForeground(request)) return client.send(request, options)
      let isRetrying = false
      const end = (): void => {
        if (isRetrying) report({ type: 'retry-over' })
        isRetrying = false
      }
      const onEvent = (event: StreamEvent): void => {
        if (event.type === 'retrying') report(event)
        else end()
        isRetrying ||= event.type === 'retrying'
        options.onEvent?.(event)
      }
      return client.send(request, { ...options, onEvent }).finally(end)
    },
  }
}
