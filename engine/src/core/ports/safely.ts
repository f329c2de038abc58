// Calls foreign code: hooks, model clients, file stores, mechanisms, listeners. Even if it throws, rejects or hangs, the call
// ends in bounded time with a value or a reason.
import { defined, describeValue, errorText, isObject } from '../message/json.ts'
import { noTokens, type Usage } from '../message/usage.ts'
import type { Emit, EngineEvent, EventSource, HostCode } from './events.ts'
import { type Hooks, type HostHooks, noOutcome, readOutcome } from './hooks.ts'
import {
  type AbortSignalPort,
  type FailureReason,
  type ModelAnswer,
  type ModelClient,
  type ModelFailure,
  noCapabilities,
} from './model.ts'
import { nothingRestored, type Redact, type Restore, type SafeRedact } from './restore.ts'

export type CallResult<T> =
  | { readonly type: 'returned'; readonly value: T }
  | { readonly type: 'broke'; readonly why: string }
  | { readonly type: 'aborted' }

export type SafelyOptions = {
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly wait: (milliseconds: number, signal?: AbortSignalPort) => Promise<void>
  readonly timeoutMs: number
  readonly signal?: AbortSignalPort | undefined
  /** How long the call may take to end by itself after an abort. Default: 0. */
  readonly graceMs?: number
  /** Called when the time is up. `true` gives the call the same time again. */
  readonly isAlive?: () => boolean
}

/** For code that answers from memory or disk. Model clients and mechanisms get `slowTimeoutMs`. */
export const hostTimeoutMs = 60_000
/** Time without any sign of life. */
export const slowTimeoutMs = 600_000

/** Never rejects. An abandoned call keeps running, but its result is ignored. */
export async function safely<T>(call: () => T | Promise<T>, options: SafelyOptions): Promise<CallResult<T>> {
  const { signal, wait, timeoutMs, graceMs, isAlive } = options
  if (signal?.aborted) return { type: 'aborted' }
  const over = createStop()
  const returned = async (): Promise<CallResult<T>> => {
    try {
      return { type: 'returned', value: await call() }
    } catch (error) {
      return { type: 'broke', why: errorText(error) }
    }
  }
  const timedOut = async (): Promise<CallResult<T>> => {
    do await wait(timeoutMs, over.signal)
    while (!over.signal.aborted && isAlive?.())
    return { type: 'broke', why: `did not answer within ${timeoutMs / 1000} s` }
  }
  const aborted = new Promise<CallResult<T>>((resolve) => {
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

/** For code that should return at once. `onProblem` gets what it throws or what its promise rejects with. */
export function callNow(call: () => unknown, onProblem: (why: string) => void): void {
  const report = (error: unknown) => onProblem(errorText(error))
  try {
    const returned = call()
    if (returned instanceof Promise) returned.catch(report)
  } catch (error) {
    report(error)
  }
}

type CallOptions = Partial<Omit<SafelyOptions, 'wait'>>
type ReadOptions<T> = CallOptions & { readonly isValid: (value: unknown) => boolean; readonly otherwise: T }

/** Calls the host code of one session. Reports every problem as an event. */
export type Guard = {
  readonly call: <T>(code: HostCode, call: () => T | Promise<T>, options?: CallOptions) => Promise<CallResult<T>>
  /** Returns `otherwise` if the call failed, was aborted, or returned a value of the wrong shape. */
  readonly read: <T>(code: HostCode, call: () => unknown, options: ReadOptions<T>) => Promise<T>
  readonly report: (code: HostCode, problem: string) => void
}

export function createGuard({ emit, wait }: { readonly emit: Emit; readonly wait: SafelyOptions['wait'] }): Guard {
  const report: Guard['report'] = (code, problem) => emit({ type: 'host-code-failed', code, problem })
  const call: Guard['call'] = async (code, run, options = {}) => {
    const called = await safely(run, { wait, timeoutMs: hostTimeoutMs, ...options })
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

/** A function of the host that returns at once. An error or a wrong result is reported, and the result is undefined. */
export function safeFunction<In, Out>(
  code: HostCode,
  call: (input: In) => Out,
  { guard, isValid }: { readonly guard: Guard; readonly isValid: (result: unknown) => boolean },
): (input: In) => Out | undefined {
  return (input) => {
    try {
      const result = call(input)
      if (isValid(result)) return result
      guard.report(code, `returned ${describeValue(result)}`)
      // Nothing awaits this promise.
      if (result instanceof Promise) result.catch(() => undefined)
    } catch (error) {
      guard.report(code, errorText(error))
    }
    return undefined
  }
}

type Listener = (event: EngineEvent) => void

export type Listeners = {
  readonly emit: Listener
  /** Returns a function that removes it. */
  readonly add: (listener: Listener) => () => void
}

/** A listener that throws or rejects does not stop the others. `source` is added to every event. */
export function createListeners(first: Listener | undefined, source: EventSource = {}): Listeners {
  const all = new Set(first ? [first] : [])
  const emit = (event: EngineEvent): void => {
    for (const listener of all)
      callNow(
        () => listener({ ...event, ...source }),
        (why) => {
          // A listener that also fails on this report is not reported again.
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

/** An abort signal that core can create. */
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

/** How long a client may take to end by itself after an abort. */
const abortGraceMs = 2_000

/** Turns errors of a client, invalid answers and endless silence into a ModelFailure. */
export function safeModel(client: ModelClient, guard: Guard): ModelClient {
  const { provider, model, endpoint } = client
  const report = (problem: string) => guard.report('model', `${provider}: ${problem}`)
  return {
    provider,
    model,
    capabilities: safeCapabilities(client, report),
    send: async (request, options = {}) => {
      let wasHeard = false
      const onEvent: NonNullable<typeof options.onEvent> = (event) => {
        wasHeard = true
        callNow(
          () => options.onEvent?.(event),
          (why) => guard.report('listener', `at ${event.type}: ${why}`),
        )
      }
      const called = await guard.call<unknown>('model', () => client.send(request, { ...options, onEvent }), {
        timeoutMs: slowTimeoutMs,
        graceMs: abortGraceMs,
        signal: options.signal,
        isAlive: () => {
          const isAlive = wasHeard
          wasHeard = false
          return isAlive
        },
      })
      if (called.type === 'aborted') return clientFailure('aborted', 'aborted')
      if (called.type === 'broke') return clientFailure('invalid', `The model client failed: ${called.why}`)
      return readResult(called.value, report)
    },
    ...defined({ endpoint, describe: client.describe?.bind(client), count: client.count?.bind(client) }),
  }
}

/** Called often, so the same problem is reported only once. */
function safeCapabilities(client: ModelClient, report: (problem: string) => void): ModelClient['capabilities'] {
  const reported = new Set<string>()
  const reportOnce = (problem: string) => {
    if (!reported.has(problem)) report(`capabilities() ${problem}`)
    reported.add(problem)
  }
  return (model) => {
    let found: unknown
    const ask = () => {
      found = client.capabilities(model)
      return found
    }
    callNow(ask, (why) => reportOnce(`failed: ${why}`))
    if (isObject(found) && !(found instanceof Promise)) return { ...noCapabilities, ...found }
    reportOnce(`returned ${describeValue(found)}`)
    return noCapabilities
  }
}

function clientFailure(reason: FailureReason, message: string): ModelFailure {
  return { type: 'failed', reason, message, tries: 1 }
}

const reasons: readonly unknown[] = ['overflow', 'too-large', 'aborted', 'transient', 'refused', 'invalid']

function readResult(value: unknown, report: (problem: string) => void): ModelAnswer | ModelFailure {
  if (isObject(value) && value.type === 'answer' && Array.isArray(value.content)) {
    return { ...(value as ModelAnswer), usage: readUsage(value.usage, report) }
  }
  if (isObject(value) && value.type === 'failed' && reasons.includes(value.reason)) {
    const { message, tries } = value
    return {
      ...(value as ModelFailure),
      message: typeof message === 'string' ? message : describeValue(message),
      tries: typeof tries === 'number' && tries >= 1 ? tries : 1,
    }
  }
  const problem = `send() returned ${describeValue(value)} that is neither an answer nor a failure`
  report(problem)
  return clientFailure('invalid', `The model client failed: ${problem}`)
}

/** An invalid count would spoil every size computed from it, so it counts as 0. */
function readUsage(usage: unknown, report: (problem: string) => void): Usage {
  const found = isObject(usage) ? usage : {}
  const isCount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0
  const wrong = Object.keys(noTokens).filter((key) => found[key] !== undefined && !isCount(found[key]))
  if (!isObject(usage) || wrong.length > 0) {
    report(`the usage of an answer is ${wrong.length > 0 ? `wrong (${wrong.join(', ')})` : describeValue(usage)}`)
  }
  return { ...noTokens, ...found, ...Object.fromEntries(wrong.map((key) => [key, 0])) }
}

/** A hook that fails adds nothing; `problems` has the reason. */
export function safeHooks(hooks: HostHooks, wait: SafelyOptions['wait']): Hooks {
  return {
    run: async (call, { signal } = {}) => {
      const options = { wait, timeoutMs: hostTimeoutMs, signal }
      const called = await safely<unknown>(() => hooks.run(call, { signal }), options)
      if (called.type === 'aborted') return noOutcome
      const outcome = called.type === 'returned' ? readOutcome(called.value) : undefined
      const why = called.type === 'returned' ? `returned ${describeValue(called.value)}` : called.why
      return outcome ?? { ...noOutcome, problems: [`the hooks of ${call.event}: ${why}`] }
    },
  }
}

export function safeRedact(redact: Redact, guard: Guard): SafeRedact {
  return safeFunction('redact', redact, { guard, isValid: (text) => typeof text === 'string' })
}

export function safeRestore(restore: Restore, guard: Guard): Restore {
  const isValid = (value: unknown) => isObject(value) && Array.isArray(value.pieces) && Array.isArray(value.notRestored)
  return (request) => guard.read('restore', () => restore(request), { isValid, otherwise: nothingRestored })
}
