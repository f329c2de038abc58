// Adds faults between a client and a fetch handler: requested by a header, by rule, or at random from a seed. The handler is not
// affected.
import { setTimeout as sleep } from 'node:timers/promises'
import { lettersFrom, type Random, type Seed, seededRandom } from '../script/random.ts'
import { faultyBody, type Means, streamOf } from './body.ts'
import { type Fault, FaultSignal, faultHeader, readFault } from './fault.ts'

export type Handler = (request: Request) => Response | Promise<Response>

export type FaultRule = {
  /** Selects the requests. Default: all. It must not read the body. Ordinals count from 0. */
  readonly when?: (request: Request, ordinal: number) => boolean
  /** Probability for a selected request. Default: 1. */
  readonly probability?: number
  readonly fault: Fault
}

export type FaultPlan = {
  /** The first matching rule gives the fault. A header on the request overrides all rules. */
  readonly rules?: readonly FaultRule[]
  readonly seed?: Seed
  /** For tests that do not wait. */
  readonly wait?: Means['wait']
  /** Called with each fault before it happens. */
  readonly onFault?: (fault: Fault) => void
}

/**
 * The same plan gives the same requests the same faults, whatever order the answers end in: chance hangs on the seed,
 * the ordinal and the rule. Rejects with FaultSignal for `cut-before`.
 */
export function withFaults(handler: Handler, plan: FaultPlan = {}): (request: Request) => Promise<Response> {
  let count = 0
  return async (request) => {
    const ordinal = count++
    const random = seededRandom('fault', plan.seed ?? 1, ordinal)
    const named = request.headers.get(faultHeader)
    const fault = named === null ? ruledFault(plan, request, ordinal) : readFault(named)
    if (fault === undefined) return handler(request)
    if (typeof fault === 'string')
      return errorAnswer({ status: 400, type: 'invalid_request_error', message: fault, random })
    plan.onFault?.(fault)
    if (fault.type === 'cut-before') throw new FaultSignal('cut-before')
    return refusal(fault, random) ?? withFaultyBody(await handler(request), fault, { request, random, plan })
  }
}

function ruledFault(plan: FaultPlan, request: Request, ordinal: number): Fault | undefined {
  return plan.rules?.find((rule, index) => {
    const falls = () => seededRandom('rule', plan.seed ?? 1, index, ordinal)() < (rule.probability ?? 1)
    return (rule.when?.(request, ordinal) ?? true) && falls()
  })?.fault
}

/** Faults that answer instead of the handler. */
function refusal(fault: Fault, random: Random): Response | undefined {
  if (fault.type === 'rate-limit') {
    const milliseconds = fault.retryAfterMs ?? 1_000
    const message = 'This request would exceed the rate limit of your organization. Please try again later.'
    const headers = { 'retry-after': String(Math.ceil(milliseconds / 1_000)), 'retry-after-ms': String(milliseconds) }
    return errorAnswer({ status: 429, type: 'rate_limit_error', message, random, headers })
  }
  if (fault.type === 'overloaded') {
    return errorAnswer({ status: 529, type: 'overloaded_error', message: 'Overloaded', random })
  }
  if (fault.type === 'server-error') {
    return errorAnswer({ status: 500, type: 'api_error', message: 'Internal server error', random })
  }
  return undefined
}

function errorAnswer(answer: {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly random: Random
  readonly headers?: Readonly<Record<string, string>>
}): Response {
  const id = `req_${lettersFrom(answer.random, 24)}`
  const error = { type: answer.type, message: answer.message }
  return new Response(JSON.stringify({ type: 'error', error, request_id: id }), {
    status: answer.status,
    headers: { 'content-type': 'application/json', 'request-id': id, ...answer.headers },
  })
}

function withFaultyBody(
  response: Response,
  fault: Fault,
  at: { readonly request: Request; readonly random: Random; readonly plan: FaultPlan },
): Response {
  if (!response.body) return response
  const left = new AbortController()
  const events = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  const signal = AbortSignal.any([at.request.signal, left.signal])
  const wait = at.plan.wait ?? (async (milliseconds, stop) => sleep(milliseconds, undefined, { signal: stop }))
  const body = faultyBody(response.body, fault, { random: at.random, signal, wait, events })
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  const { status, statusText } = response
  return new Response(
    streamOf(body, () => left.abort()),
    { status, statusText, headers },
  )
}
