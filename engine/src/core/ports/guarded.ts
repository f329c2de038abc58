// Calls code that is not ours: hooks, model clients, file stores, mechanisms, listeners. Whatever it does (throws, rejects,
// hangs), the call ends in bounded time with a value or with a reason.
import { describeValue } from '../message/json.ts'
import type { EngineEvent, EventSource, HostCode } from './events.ts'
import type { AbortSignalPort } from './model.ts'
import type { CompactionPorts } from './ports.ts'

export type Called<T> =
  | { readonly type: 'returned'; readonly value: T }
  | { readonly type: 'broke'; readonly why: string }
  | { readonly type: 'aborted' }

export type GuardOptions = {
  readonly wait: CompactionPorts['wait']
  readonly timeoutMs: number
  readonly signal?: AbortSignalPort | undefined
  /** How long the call may take to end by itself after an abort. Default: 0. */
  readonly graceMs?: number
  /** Asked when the time is up: `true` gives the call as much time again. */
  readonly isAlive?: () => boolean
}

/** For code that answers from memory or from disk; model clients and mechanisms get `slowTimeoutMs`. */
export const hostTimeoutMs = 60_000
/** Without any sign of life. */
export const slowTimeoutMs = 600_000

/** Never rejects. A call that is given up keeps running, but its result is ignored. */
export async function guarded<T>(call: () => T | Promise<T>, options: GuardOptions): Promise<Called<T>> {
  const { signal, wait, timeoutMs, graceMs, isAlive } = options
  if (signal?.aborted) return { type: 'aborted' }
  const over = createStop()
  const returned = async (): Promise<Called<T>> => {
    try {
      return { type: 'returned', value: await call() }
    } catch (error) {
      return { type: 'broke', why: errorText(error) }
    }
  }
  const timedOut = async (): Promise<Called<T>> => {
    do await wait(timeoutMs, over.signal)
    while (!over.signal.aborted && isAlive?.())
    return { type: 'broke', why: `did not answer within ${timeoutMs / 1000} s` }
  }
  const aborted = new Promise<Called<T>>((resolve) => {
    const end = async () => {
      if (graceMs) await wait(graceMs, over.signal)
      resolve({ type: 'aborted' })
    }
    signal?.addEventListener('abort', end, { once: true })
    over.signal.addEventListener('abort', () => signal?.removeEventListener('abort', end))
  })
  const result = await Promise.race([returned(), timedOut(), aborted])
  over.stop()
  return result
}

/** Undefined as soon as the signal is aborted; the work then continues, and its result is ignored. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignalPort | undefined): Promise<T | undefined> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const end = () => resolve(undefined)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

const maxProblemLength = 300

/** One line, whatever was thrown. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : describeValue(error)
  return text.slice(0, maxProblemLength)
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

type CallOptions = Partial<Omit<GuardOptions, 'wait'>>
type ReadOptions<T> = CallOptions & { readonly isValid: (value: unknown) => boolean; readonly otherwise: T }

/** What one session calls its host code with. Whatever goes wrong is reported as an event. */
export type Guard = {
  readonly call: <T>(code: HostCode, call: () => T | Promise<T>, options?: CallOptions) => Promise<Called<T>>
  /** The result is `otherwise` if the call broke, was aborted, or returned something of the wrong shape. */
  readonly read: <T>(code: HostCode, call: () => unknown, options: ReadOptions<T>) => Promise<T>
  readonly report: (code: HostCode, problem: string) => void
}

export function createGuard({ emit, wait }: Pick<CompactionPorts, 'emit' | 'wait'>): Guard {
  const report: Guard['report'] = (code, problem) => emit({ type: 'host-code-failed', code, problem })
  const call: Guard['call'] = async (code, run, options = {}) => {
    const called = await guarded(run, { wait, timeoutMs: hostTimeoutMs, ...options })
    if (called.type === 'broke') report(code, called.why)
    return called
  }
  return {
    report,
    call,
    read: async <T>(code: HostCode, run: () => unknown, { isValid, otherwise, ...options }: ReadOptions<T>) => {
      const called = await call(code, run, options)
      if (called.type !== 'returned') return otherwise
      if (isValid(called.value)) return called.value as T
      report(code, `returned ${describeValue(called.value)}`)
      return otherwise
    },
  }
}

type Listener = (event: EngineEvent) => void

export type Listeners = {
  readonly emit: Listener
  /** Returns a function that removes it. */
  readonly add: (listener: Listener) => () => void
}

/** A listener that throws or rejects stops nobody: the others still get the event. `source` is added to every event. */
export function createListeners(first: Listener | undefined, source: EventSource = {}): Listeners {
  const all = new Set(first ? [first] : [])
  const emit = (event: EngineEvent): void => {
    for (const listener of all)
      callNow(
        () => listener({ ...event, ...source }),
        (why) => {
          // A listener that breaks on the report as well is not reported again.
          if (event.type === 'host-code-failed' && event.code === 'listener') return
          emit({ type: 'host-code-failed', code: 'listener', problem: `at ${event.type}: ${why}` })
        },
      )
  }
  return {
    emit,
    add: (listener) => {
      all.add(listener)
      return () => void all.delete(listener)
    },
  }
}

/** An abort signal that core can make by itself. */
export type Stop = { readonly signal: AbortSignalPort; readonly stop: () => void }

export function createStop(): Stop {
  const listeners = new Set<() => void>()
  let aborted = false
  return {
    signal: {
      get aborted() {
        return aborted
      },
      addEventListener: (_type, listener) => {
        if (aborted) listener()
        else listeners.add(listener)
      },
      removeEventListener: (_type, listener) => {
        listeners.delete(listener)
      },
    },
    stop: () => {
      if (aborted) return
      aborted = true
      for (const listener of listeners) listener()
      listeners.clear()
    },
  }
}
