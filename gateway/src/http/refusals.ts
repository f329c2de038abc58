// Refusals by the gateway itself, in the shape of the called API, so that its clients show the message.
import type { ServerResponse } from 'node:http'

export type Refusal = {
  readonly status: number
  /** The type in the Messages API. */
  readonly type: string
  readonly message: string
  readonly retryAfterSeconds?: number
}

export type Shape = 'messages' | 'openai'

export const refusals = {
  noKey: {
    status: 401,
    type: 'authentication_error',
    message: 'This gateway needs a key in the header x-everlong-key. Ask its operator for one.',
  },
  noCredential: {
    status: 401,
    type: 'authentication_error',
    message: 'The gateway has no credential of its own. Send yours for the API in x-api-key or authorization.',
  },
  badPath: { status: 400, type: 'invalid_request_error', message: 'The gateway does not forward this path.' },
  badFraming: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The gateway takes HTTP 1.1, and HTTP 1.0 without chunks.',
  },
  stopping: { status: 503, type: 'api_error', message: 'The gateway is stopping. Try again.', retryAfterSeconds: 1 },
  storeAway: {
    status: 503,
    type: 'api_error',
    message: 'The gateway cannot store conversations now, and is configured to refuse requests meanwhile. Try again.',
    retryAfterSeconds: 5,
  },
  fromElsewhere: { status: 403, type: 'permission_error', message: 'Pages of other sites may not use this.' },
  notAdmin: { status: 401, type: 'authentication_error', message: 'This needs the key of an administrator.' },
} satisfies Record<string, Refusal>

export function tooLarge(maxBytes: number): Refusal {
  return {
    status: 413,
    type: 'request_too_large',
    message: `The request is larger than the ${maxBytes} bytes that this gateway accepts.`,
  }
}

export function unreachable(upstream: string, why: string): Refusal {
  return { status: 502, type: 'api_error', message: `The upstream "${upstream}" cannot be reached (${why}).` }
}

export function tooSlow(upstream: string): Refusal {
  return { status: 504, type: 'timeout_error', message: `The upstream "${upstream}" did not answer in time.` }
}

export function overLimit(what: string, seconds: number): Refusal {
  return {
    status: 429,
    type: 'rate_limit_error',
    message: `This key may not exceed ${what}. Try again in ${seconds} seconds.`,
    retryAfterSeconds: seconds,
  }
}

export function refuse(outgoing: ServerResponse, refusal: Refusal, shape: Shape): void {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy()
    return
  }
  const { status, type, message, retryAfterSeconds } = refusal
  const body = JSON.stringify(
    shape === 'messages'
      ? { type: 'error', error: { type, message } }
      : { error: { type, message, code: null, param: null } },
  )
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-everlong-refused': 'true',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  })
  outgoing.end(body)
}
