// Sending again what failed for now: bounded in number and in time, with back-off, jitter and the server's own wishes.
// Never sends an overflow twice, nor anything that would be refused again, and ends at once when it is aborted.
import type { ModelFailure, SendOptions } from '../core/ports/model.ts'
import type { ModelPorts } from './ports.ts'

export type RetryPolicy = {
  /** How often it is sent again after the first time. */
  readonly retries: number
  /** All tries and waits together; a wait that would end later is not begun. */
  readonly totalMs: number
  /** Doubled with each try; a quarter of it is left to chance. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
}

export const defaultRetries: RetryPolicy = {
  retries: 2,
  totalMs: 300_000,
  firstWaitMs: 500,
  longestWaitMs: 8_000,
}

/** One try that came to nothing. */
export type FailedTry = Omit<ModelFailure, 'type' | 'tries'> & {
  readonly type: 'try-failed'
  /** The server's word on whether to come again, where it has said one. */
  readonly shouldRetry?: boolean
}

type Retrying = SendOptions & { readonly ports: ModelPorts; readonly policy: RetryPolicy }

export async function withRetries<Done extends { readonly type: string }>(
  attempt: () => Promise<Done | FailedTry>,
  { signal, onEvent, ports, policy }: Retrying,
): Promise<Exclude<Done, FailedTry> | ModelFailure> {
  const began = ports.now()
  for (let tries = 1; ; tries++) {
    if (signal?.aborted) return aborted(tries - 1)
    const result = await attempt()
    if (!isFailedTry(result)) return result as Exclude<Done, FailedTry>
    if (signal?.aborted) return aborted(tries)
    const waitMs = waitBefore(result, { policy, tries, random: ports.random })
    const isTooLate = ports.now() - began + waitMs > policy.totalMs
    if (!isWorthAnother(result) || tries > policy.retries || isTooLate) return failureOf(result, tries)
    onEvent?.({ type: 'retrying', attempt: tries, waitMs, why: result.message })
    await ports.wait(waitMs, signal)
  }
}

function aborted(tries: number): ModelFailure {
  return { type: 'failed', reason: 'aborted', message: 'aborted', tries }
}

function isFailedTry(result: { readonly type: string }): result is FailedTry {
  return result.type === 'try-failed'
}

/** The same request would meet the same answer again. */
const final: readonly (number | undefined)[] = [400, 401, 402, 403, 404, 413]

function isWorthAnother({ reason, status, shouldRetry }: FailedTry): boolean {
  if (reason === 'overflow' || reason === 'too-large' || reason === 'aborted' || final.includes(status)) return false
  return shouldRetry ?? reason === 'transient'
}

function waitBefore(
  { retryAfterMs }: FailedTry,
  at: { readonly policy: RetryPolicy; readonly tries: number; readonly random: () => number },
): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const { firstWaitMs, longestWaitMs } = at.policy
  const step = Math.min(longestWaitMs, firstWaitMs * 2 ** (at.tries - 1))
  return Math.round(step * (1 - at.random() * 0.25))
}

function failureOf({ type: _, shouldRetry: __, ...failed }: FailedTry, tries: number): ModelFailure {
  return { type: 'failed', ...failed, tries }
}

/** What a server's headers say about coming again. */
export function retryHeaders(
  get: (name: string) => string | null,
  now: number,
): Pick<FailedTry, 'retryAfterMs' | 'shouldRetry'> {
  const retryAfterMs = millisecondsIn(get('retry-after-ms')) ?? secondsOrDate(get('retry-after'), now)
  const should = get('x-should-retry')
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(should === 'true' || should === 'false' ? { shouldRetry: should === 'true' } : {}),
  }
}

function millisecondsIn(value: string | null): number | undefined {
  const number = value === null || value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) && number >= 0 ? Math.round(number) : undefined
}

function secondsOrDate(value: string | null, now: number): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return millisecondsIn(String(seconds * 1_000))
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
