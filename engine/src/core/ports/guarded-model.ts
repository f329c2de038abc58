// A model client whose faults are values: what it throws, what it returns that is no answer, and a silence that does not
// end become a ModelFailure, and are reported. Sends nothing itself.
import { isObject } from '../message/json.ts'
import { noTokens, type Usage } from '../message/usage.ts'
import { callNow, describeValue, errorText, type Guard, slowTimeoutMs } from './guarded.ts'
import type { FailureReason, ModelAnswer, ModelCapabilities, ModelClient, ModelFailure, SendOptions } from './model.ts'

/** How long a client may take to end by itself after an abort. */
const abortGraceMs = 2_000

export function guardedModel(client: ModelClient, guard: Guard): ModelClient {
  const known = new Map<string, ModelCapabilities>()
  const report = (problem: string) => guard.report('model', `${client.provider}: ${problem}`)
  const told = new Set<string>()
  // It is asked several times for each request: the same problem is reported once.
  const reportOnce = (problem: string) => {
    if (!told.has(problem)) report(problem)
    told.add(problem)
  }
  const capabilities = (model: string): ModelCapabilities => {
    let found: unknown
    const ask = () => {
      found = client.capabilities(model)
      return found
    }
    callNow(ask, (why) => reportOnce(`capabilities() failed: ${why}`))
    if (isObject(found) && !(found instanceof Promise)) known.set(model, { ...noCapabilities, ...found })
    else reportOnce(`capabilities() returned ${describeValue(found)}`)
    return known.get(model) ?? noCapabilities
  }
  return {
    provider: client.provider,
    model: client.model,
    ...(client.endpoint === undefined ? {} : { endpoint: client.endpoint }),
    capabilities,
    send: async (request, options = {}) => {
      let wasHeard = false
      const onEvent: SendOptions['onEvent'] = (event) => {
        wasHeard = true
        try {
          options.onEvent?.(event)
        } catch (error) {
          guard.report('listener', `at ${event.type}: ${errorText(error)}`)
        }
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
    ...(client.count ? { count: client.count.bind(client) } : {}),
    ...(client.describe ? { describe: client.describe.bind(client) } : {}),
  }
}

const noCapabilities: ModelCapabilities = {
  cacheEdits: false,
  contextManagement: false,
  compaction: 'none',
  promptCache: false,
  offline: false,
}

function failure(reason: FailureReason, message: string): ModelFailure {
  return { type: 'failed', reason, message, tries: 1 }
}

function readResult(value: unknown, report: (problem: string) => void): ModelAnswer | ModelFailure {
  if (isObject(value) && value.type === 'answer' && Array.isArray(value.content)) {
    return { ...(value as ModelAnswer), usage: readUsage(value.usage, report) }
  }
  if (isObject(value) && value.type === 'failed' && isReason(value.reason)) {
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

const reasons: readonly FailureReason[] = ['overflow', 'too-large', 'aborted', 'transient', 'refused', 'invalid']

function isReason(value: unknown): value is FailureReason {
  return reasons.some((reason) => reason === value)
}

/** A count that is none would spoil every size that is computed from it: it counts as 0. */
function readUsage(usage: unknown, report: (problem: string) => void): Usage {
  const found = isObject(usage) ? usage : {}
  const isCount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0
  const wrong = Object.keys(noTokens).filter((key) => found[key] !== undefined && !isCount(found[key]))
  if (!isObject(usage) || wrong.length > 0) {
    report(`the usage of an answer is ${wrong.length > 0 ? `wrong (${wrong.join(', ')})` : describeValue(usage)}`)
  }
  return { ...noTokens, ...found, ...Object.fromEntries(wrong.map((key) => [key, 0])) }
}
