// Reads a stream to its end. An error of the server is a failed try with a reason; a bug of ours is thrown. Errors are recognized
// by their shape, because SDKs and hosts have their own classes.
import { defined, isObject, type JsonObject, numberAt } from '../core/message/json.ts'
import type { ModelAnswer, SendOptions } from '../core/ports/model.ts'
import { readRefusal } from '../core/request/refusal.ts'
import { headOf } from '../core/text/cut.ts'
import { estimateTokens } from '../core/tokens/estimate/estimate.ts'
import { bodyOfRefusal } from './http.ts'
import type { ModelPorts } from './ports.ts'
import { type FailedTry, retryHeaders } from './retry.ts'

/** Builds an answer from the events of one stream. `add` and `answer` throw BrokenStream if the events do not fit together. */
export type Accumulator = {
  readonly add: (event: unknown) => Delta | undefined
  /** True if the answer is complete, even if the connection breaks now. */
  readonly isComplete: () => boolean
  readonly answer: () => ModelAnswer
}

/** The part of the answer in an event. `json` is counted, but not shown. */
export type Delta = { readonly type: 'text' | 'thinking' | 'json'; readonly text: string }

/** The stream ended before its answer did, or its events do not fit together. */
export class BrokenStream extends Error {}

const statuses: Readonly<Record<string, number>> = { server_error: 500, rate_limit_exceeded: 429 }

/** The server reported an error within the stream. Has the fields of the SDKs' errors. */
export class RefusedStream extends Error {
  readonly error: JsonObject
  readonly status: number

  constructor(message: string, error: JsonObject) {
    super(message)
    this.error = error
    this.status = statuses[String(error.code)] ?? 400
  }
}

export class MissingPackage extends Error {
  constructor(name: string) {
    super(`the package ${name} is not installed; it is an optional peer of everlong: npm install ${name}`)
  }
}

const abortedTry: FailedTry = { type: 'try-failed', reason: 'aborted', message: 'aborted' }

type Reading = Pick<SendOptions, 'onEvent'> & {
  readonly signal: AbortSignal
  readonly ports: ModelPorts
  readonly endpoint: string
  readonly accumulator: Accumulator
}

export async function readStream(
  open: () => Promise<AsyncIterable<unknown>>,
  { onEvent, ports, endpoint, accumulator, signal }: Reading,
): Promise<ModelAnswer | FailedTry> {
  let outputTokens = 0
  try {
    for await (const got of eventsOrError(open)) {
      if (signal.aborted) return abortedTry
      if ('error' in got) {
        if (accumulator.isComplete()) break
        return failedTry(got.error, { now: ports.now(), endpoint })
      }
      const piece = accumulator.add(got.event)
      if (piece === undefined || piece.text === '') continue
      outputTokens += estimateTokens(piece.text)
      if (piece.type !== 'json') onEvent?.({ type: piece.type, text: piece.text })
      if (!signal.aborted) onEvent?.({ type: 'progress', outputTokens })
    }
    return signal.aborted ? abortedTry : accumulator.answer()
  } catch (error) {
    if (error instanceof BrokenStream) return { type: 'try-failed', reason: 'transient', message: error.message }
    if (error instanceof RefusedStream) return failedTry(error, { now: ports.now(), endpoint })
    throw error
  }
}

/** Yields an error of the other side last, as a value. That includes errors on closing a connection after the end. */
async function* eventsOrError(open: () => Promise<AsyncIterable<unknown>>) {
  try {
    for await (const event of await open()) yield { event }
  } catch (error) {
    yield { error }
  }
}

export function failedTry(error: unknown, at: { readonly now: number; readonly endpoint: string }): FailedTry {
  const status = numberAt(error, 'status')
  const body = bodyOf(error)
  if (body === undefined) {
    const message = wordsOf(error)
    // Errors of the SDKs before they send anything: no key, no such package, an invalid header.
    const isSetup = error instanceof MissingPackage || /authentication method|credentials|api ?key/i.test(message)
    return { type: 'try-failed', reason: isSetup ? 'refused' : 'transient', message }
  }
  const refusal = readRefusal({ body, endpoint: at.endpoint, ...defined({ status }) })
  const { reason, message, code, overflow, media } = refusal
  const headers = isObject(error) && error.headers instanceof Headers ? error.headers : new Headers()
  return {
    type: 'try-failed',
    reason,
    message,
    ...defined({ status, code, overflow, media }),
    ...retryHeaders((name) => headers.get(name), at.now),
  }
}

/** The bytes of the response, otherwise the SDK's value. Undefined if no server has answered. */
function bodyOf(error: unknown): unknown {
  if (!isObject(error)) return undefined
  const words = numberAt(error, 'status') === undefined ? undefined : (error.message ?? '')
  return bodyOfRefusal(error.headers) ?? error.error ?? words
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error.cause instanceof Error)) return headOf(error.message, 2_000)
  return headOf(`${error.message.replace(/\.$/, '')}: ${wordsOf(error.cause)}`, 2_000)
}
