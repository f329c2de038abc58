// An error that an SDK threw becomes a failed try with a reason. Looks at shapes, not at classes: two SDKs and whatever
// client a host hands in have classes of their own.
import { isObject, numberAt } from '../core/message/json.ts'
import { readRefusal } from '../core/request/refusal.ts'
import { headOf } from '../core/text/cut.ts'
import { bodyOfRefusal } from './http.ts'
import { type FailedTry, retryHeaders } from './retry.ts'

/** The stream ended before its answer did, or said what cannot be. */
export class BrokenStream extends Error {}

export type FailedAt = { readonly now: number; readonly endpoint: string }

/** `error` is whatever was thrown while a request ran. */
export function failedTry(error: unknown, { now, endpoint }: FailedAt): FailedTry {
  const status = numberAt(error, 'status')
  const body = bodyOf(error)
  if (body === undefined) return withoutBody(error)
  const { reason, message, code, overflow, media } = readRefusal({
    body,
    endpoint,
    ...(status === undefined ? {} : { status }),
  })
  return {
    type: 'try-failed',
    reason,
    message,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(overflow === undefined ? {} : { overflow }),
    ...(media === undefined ? {} : { media }),
    ...(isObject(error) ? headersOf(error.headers, now) : {}),
  }
}

/** The bytes as they came, else what the SDK made of them; undefined when no server has spoken. */
function bodyOf(error: unknown): unknown {
  if (!isObject(error)) return undefined
  const kept = bodyOfRefusal(error.headers)
  if (kept !== undefined) return kept
  if (error.error !== undefined && error.error !== null) return error.error
  return numberAt(error, 'status') === undefined ? undefined : (error.message ?? '')
}

function headersOf(headers: unknown, now: number): Pick<FailedTry, 'retryAfterMs' | 'shouldRetry'> {
  if (!(headers instanceof Headers)) return {}
  return retryHeaders((name) => headers.get(name), now)
}

/** No server has spoken: the connection failed, or the SDK refused to send. */
function withoutBody(error: unknown): FailedTry {
  const message = wordsOf(error)
  if (isSetup(error, message)) return { type: 'try-failed', reason: 'refused', message }
  return { type: 'try-failed', reason: 'transient', message }
}

/** What the SDKs say before they send anything: no key, no such package, a header that cannot be. */
function isSetup(error: unknown, message: string): boolean {
  if (error instanceof MissingPackage) return true
  return /authentication method|credentials|api ?key/i.test(message)
}

export class MissingPackage extends Error {
  constructor(name: string) {
    super(`the package ${name} is not installed; it is an optional peer of everlong: npm install ${name}`)
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? `: ${wordsOf(error.cause)}` : ''
  return headOf(`${error.message}${cause}`, 2_000)
}
