// Retries temporary failures, limited in number and time, with back-off, jitter and the server's instructions. Never repeats an
// overflow or a request that would be refused again, and ends at once when it is aborted.
import { defined } from '../core/message/json.ts'
import type { ModelFailure, SendOptions } from '../core/ports/model.ts'
import type { ModelPorts } from './ports.ts'

export type RetryPolicy = {
  /** Maximum number of retries after the first try. */
  readonly retries: number
  /** Maximum time for all tries and waits. A wait that would end later does not start. */
  readonly totalMs: number
  /** Doubles with each try. A quarter of it is random. */
  readonly firstWaitMs: number
  readonly maxWaitMs: number
}

export const defaultRetries: RetryPolicy = {
  retries: 2,
  totalMs: 300_000,
  firstWaitMs: 500,
  maxWaitMs: 8_000,
}

export type FailedTry = Omit<ModelFailure, 'type' | 'tries'> & {
  readonly type: 'try-failed'
  /** The server's instruction whether to retry, if it sent one. */
  readonly shouldRetry?: boolean
}

type Retrying = SendOptions & { readonly ports: ModelPorts; readonly policy: RetryPolicy }

export async function withRetries<Done extends { readonly type: string }>(
  attempt: () => Promise<Done | FailedTry>,
  { signal, onEvent, ports, policy }: Retrying,
): Promise<Done | ModelFailure> {
  const began = ports.now()
  const aborted = (tries: number) => ({ type: 'failed', reason: 'aborted', message: 'aborted', tries }) as const
  for (let tries = 1; ; tries++) {
    if (signal?.aborted) return aborted(tries - 1)
    const result = await attempt()
    if (!isFailedTry(result)) return result
    if (signal?.aborted) return aborted(tries)
    const { type: _, shouldRetry: __, ...failed } = result
    const step = Math.min(policy.maxWaitMs, policy.firstWaitMs * 2 ** (tries - 1))
    // Never less than the back-off, because a server that always says 0 must not be asked without a pause.
    const waitMs = Math.max(failed.retryAfterMs ?? 0, Math.round(step * (1 - ports.random() * 0.25)))
    const isTooLate = ports.now() - began + waitMs > policy.totalMs
    if (!isWorthAnother(result) || tries > policy.retries || isTooLate) return { type: 'failed', ...failed, tries }
    onEvent?.({ type: 'retrying', attempt: tries, waitMs, why: failed.message })
    await ports.wait(waitMs, signal)
  }
}

function isFailedTry(result: { readonly type: string }): result is FailedTry {
  return result.type === 'try-failed'
}

/** The same request would get the same answer. */
const final: readonly (number | undefined)[] = [400, 401, 402, 403, 404, 413]

function isWorthAnother({ reason, status, shouldRetry }: FailedTry): boolean {
  if (reason === 'overflow' || reason === 'too-large' || reason === 'aborted' || final.includes(status)) return false
  return shouldRetry ?? reason === 'transient'
}

/** The headers with which a server asks for a retry: in milliseconds, in seconds or as a date. */
export function retryHeaders(
  get: (name: string) => string | null,
  now: number,
): Pick<FailedTry, 'retryAfterMs' | 'shouldRetry'> {
  const after = get('retry-after') ?? ''
  const at = Date.parse(after)
  const untilDate = Number.isNaN(Number(after)) && !Number.isNaN(at) ? Math.max(0, at - now) : undefined
  const should = get('x-should-retry')
  return defined({
    retryAfterMs: positive(get('retry-after-ms') ?? '') ?? positive(after, 1_000) ?? untilDate,
    shouldRetry: should === 'true' || should === 'false' ? should === 'true' : undefined,
  })
}

function positive(text: string, unit = 1): number | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text) * unit
  return Number.isFinite(number) && number >= 0 ? Math.round(number) : undefined
}
