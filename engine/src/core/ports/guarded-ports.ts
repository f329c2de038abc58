// Ports that a host has written itself, made safe to call: model client, hooks, files, restoring, workspace. Each answers in
// bounded time with something of the right shape; what went wrong is reported.
import { defined, describeValue, isObject, objectAt } from '../message/json.ts'
import { noTokens, type Usage } from '../message/usage.ts'
import { withoutSecrets } from '../text/secrets.ts'
import type { HostCode } from './events.ts'
import { callNow, errorText, type Guard, guarded, hostTimeoutMs, slowTimeoutMs } from './guarded.ts'
import { type Hooks, type HostHooks, noOutcome, readOutcome } from './hooks.ts'
import { type FailureReason, type ModelAnswer, type ModelClient, type ModelFailure, noCapabilities } from './model.ts'
import type { CompactionPorts } from './ports.ts'
import {
  type FileRead,
  type FileStore,
  type GuardedRedact,
  nothingRestored,
  type Redact,
  type Restoration,
  type Restore,
} from './restore.ts'
import type { NoWorkspaceState, Workspace, WorkspaceState } from './workspace.ts'

/** A hook that breaks has nothing to say; `problems` tells why. */
export function guardedHooks(hooks: HostHooks, wait: CompactionPorts['wait']): Hooks {
  return {
    run: async (call, { signal } = {}) => {
      const options = { wait, timeoutMs: hostTimeoutMs, signal }
      const called = await guarded<unknown>(() => hooks.run(call, { signal }), options)
      if (called.type === 'aborted') return noOutcome
      const outcome = called.type === 'returned' ? readOutcome(called.value) : undefined
      const why = called.type === 'returned' ? `returned ${describeValue(called.value)}` : called.why
      return outcome ?? { ...noOutcome, problems: [`the hooks of ${call.event}: ${why}`] }
    },
  }
}

const fileTimeoutMs = 10_000

/** While a read hangs no other is begun: a compaction that restores many files would wait for each of them. */
export function guardedFiles(files: FileStore, guard: Guard, redact: GuardedRedact | undefined): FileStore {
  const hanging = new Set<object>()
  return {
    read: async (path) => {
      if (hanging.size > 0) return { type: 'refused', why: 'an earlier read has not come back' }
      let isOver = false
      const read = async (): Promise<unknown> => {
        try {
          return await files.read(path)
        } finally {
          isOver = true
          hanging.delete(read)
        }
      }
      const file = await guard.read('files', read, { isValid: isFileRead, timeoutMs: fileTimeoutMs })
      if (!isOver) hanging.add(read)
      return file ? redactedFile(file, redact) : { type: 'refused', why: 'it could not be read' }
    },
  }
}

/** A function of the host's that returns at once. An error or a wrong result is reported, and the result is undefined. */
export function guardedFunction<In, Out>(
  code: HostCode,
  call: (input: In) => Out,
  { guard, isValid }: { readonly guard: Guard; readonly isValid: (result: unknown) => boolean },
): (input: In) => Out | undefined {
  return (input) => {
    try {
      const result = call(input)
      if (isValid(result)) return result
      guard.report(code, `returned ${describeValue(result)}`)
      // Nobody waits for it.
      if (result instanceof Promise) result.catch(() => undefined)
    } catch (error) {
      guard.report(code, errorText(error))
    }
    return undefined
  }
}

export function guardedRedact(redact: Redact, guard: Guard): GuardedRedact {
  return guardedFunction('redact', redact, { guard, isValid: isString })
}

export type SummaryPrompt = string | ((prompt: string) => string)

export function guardedSummaryPrompt(given: SummaryPrompt, guard: Guard): CompactionPorts['summaryPrompt'] {
  const isValid = (text: unknown) => typeof text === 'string' && text.trim() !== ''
  return typeof given === 'string' ? given : guardedFunction('summary-prompt', given, { guard, isValid })
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** What a model wrote, as it may be stored and sent: it may repeat a secret from anywhere in the conversation. */
export function withoutSecretsFor(redact: GuardedRedact | undefined): Redact {
  return (text) => withoutSecrets(redact?.(text) ?? text)
}

export function redactedFile(file: FileRead, redact: GuardedRedact | undefined): FileRead {
  if (file.type !== 'text' || !redact) return file
  const text = redact(file.text)
  return text === undefined ? { type: 'refused', why: 'its secrets could not be redacted' } : { ...file, text }
}

function isFileRead(value: unknown): value is FileRead {
  if (!isObject(value)) return false
  if (value.type === 'text') return typeof value.text === 'string'
  return value.type === 'missing' || value.type === 'binary' || value.type === 'refused'
}

export function guardedRestore(restore: Restore, guard: Guard): Restore {
  const isValid = (value: unknown): value is Restoration =>
    isObject(value) && Array.isArray(value.pieces) && Array.isArray(value.notRestored)
  return async (request) => (await guard.read('restore', () => restore(request), { isValid })) ?? nothingRestored
}

const workspaceLists = ['staged', 'unstaged', 'untracked', 'conflicts'] as const

export function guardedWorkspace(workspace: Workspace, guard: Guard): Workspace {
  const isValid = (value: unknown): value is WorkspaceState | NoWorkspaceState =>
    isObject(value) &&
    (value.type === 'unknown'
      ? typeof value.why === 'string'
      : value.type === 'state' && workspaceLists.every((list) => Array.isArray(objectAt(value, list)?.items)))
  return {
    state: async (query) => {
      const { signal } = query ?? {}
      const state = await guard.read('workspace', () => workspace.state(query), { isValid, signal })
      return state ?? { type: 'unknown', why: 'the workspace could not be asked' }
    },
  }
}

/** How long a client may take to end by itself after an abort. */
const abortGraceMs = 2_000

/** What a client throws, what it returns that is no answer, and a silence that does not end become a ModelFailure. */
export function guardedModel(client: ModelClient, guard: Guard): ModelClient {
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
      if (called.type === 'aborted') return failure('aborted', 'aborted')
      if (called.type === 'broke') return failure('invalid', `The model client failed: ${called.why}`)
      return readResult(called.value, report)
    },
    ...defined({ endpoint, describe: client.describe?.bind(client) }),
  }
}

/** It is asked often, so the same problem is reported once. */
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

function failure(reason: FailureReason, message: string): ModelFailure {
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
  return failure('invalid', `The model client failed: ${problem}`)
}

/** An invalid count would spoil every size that is computed from it: it counts as 0. */
function readUsage(usage: unknown, report: (problem: string) => void): Usage {
  const found = isObject(usage) ? usage : {}
  const isCount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0
  const wrong = Object.keys(noTokens).filter((key) => found[key] !== undefined && !isCount(found[key]))
  if (!isObject(usage) || wrong.length > 0) {
    report(`the usage of an answer is ${wrong.length > 0 ? `wrong (${wrong.join(', ')})` : describeValue(usage)}`)
  }
  return { ...noTokens, ...found, ...Object.fromEntries(wrong.map((key) => [key, 0])) }
}
