// Calls code that is not ours: hooks, model clients, file stores, mechanisms. Whatever it does (throws, rejects, hangs), the
// call ends in bounded time with a value or with a reason.
import type { Emit, HostCode } from './events.ts'
import type { AbortSignalPort } from './model.ts'
import type { CompactionPorts } from './ports.ts'
import { createStop } from './stop.ts'

export type Called<T> =
  | { readonly type: 'returned'; readonly value: T }
  | { readonly type: 'broke'; readonly why: string }
  | { readonly type: 'aborted' }

export type GuardOptions = {
  readonly wait: CompactionPorts['wait']
  readonly timeoutMs: number
  readonly signal?: AbortSignalPort | undefined
  /** How long the call may take to end by itself after an abort: 0 unless said. */
  readonly graceMs?: number
  /** Asked when the time is up: `true` gives the call as much time again. */
  readonly isAlive?: () => boolean
}

/** For code that answers from memory or from disk; model clients and mechanisms get `slowTimeoutMs`. */
export const hostTimeoutMs = 60_000
/** Without any sign of life. */
export const slowTimeoutMs = 600_000

/** Never rejects. A call that is given up keeps running, but nobody hears of it any more. */
export async function guarded<T>(call: () => T | Promise<T>, options: GuardOptions): Promise<Called<T>> {
  const { signal } = options
  if (signal?.aborted) return { type: 'aborted' }
  const over = createStop()
  const answer = settled(call)
  const aborted = new Promise<Called<T>>((resolve) => {
    const end = async () => {
      if (options.graceMs) await options.wait(options.graceMs, over.signal)
      resolve({ type: 'aborted' })
    }
    signal?.addEventListener('abort', end, { once: true })
    over.signal.addEventListener('abort', () => signal?.removeEventListener('abort', end))
  })
  const result = await Promise.race([answer, timedOut(options, over.signal), aborted])
  over.stop()
  return result
}

async function settled<T>(call: () => T | Promise<T>): Promise<Called<T>> {
  try {
    return { type: 'returned', value: await call() }
  } catch (error) {
    return { type: 'broke', why: errorText(error) }
  }
}

async function timedOut(options: GuardOptions, over: AbortSignalPort): Promise<{ type: 'broke'; why: string }> {
  do await options.wait(options.timeoutMs, over)
  while (!over.aborted && options.isAlive?.())
  return { type: 'broke', why: `did not answer within ${options.timeoutMs / 1000} s` }
}

const longestProblem = 300

/** One line, whatever was thrown. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : describeValue(error)
  return text.slice(0, longestProblem)
}

/** A value of the wrong shape, in a few words. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean')
    return `${value}`
  if (typeof value === 'string') return JSON.stringify(value.slice(0, longestProblem))
  if (value instanceof Promise) return 'a promise'
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}

/** Code that should return at once: what it throws, or what a promise it returns rejects with, goes to `onProblem`. */
export function callNow(call: () => unknown, onProblem: (why: string) => void): void {
  const report = (error: unknown) => onProblem(errorText(error))
  try {
    const returned = call()
    if (returned instanceof Promise) returned.catch(report)
  } catch (error) {
    report(error)
  }
}

/** What one session calls its host code with. */
export type Guard = {
  /** Undefined when it broke or was aborted; a break has been reported. */
  readonly call: <T>(
    code: HostCode,
    call: () => T | Promise<T>,
    options?: Partial<Omit<GuardOptions, 'wait'>>,
  ) => Promise<Called<T>>
  readonly report: (code: HostCode, problem: string) => void
}

export function createGuard({ emit, wait }: { readonly emit: Emit; readonly wait: CompactionPorts['wait'] }): Guard {
  const report: Guard['report'] = (code, problem) => emit({ type: 'host-code-failed', code, problem })
  return {
    report,
    call: async (code, call, options = {}) => {
      const called = await guarded(call, { wait, timeoutMs: hostTimeoutMs, ...options })
      if (called.type === 'broke') report(code, called.why)
      return called
    },
  }
}
