// A refusal of the API as a value: status, type, wording, and a code if the error has one.

export type ProblemType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'overloaded_error'
  | 'api_error'

export type Problem = {
  readonly status: number
  readonly type: ProblemType
  readonly message: string
  /** Sent as `error.details.error_code`. */
  readonly code?: string
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

export function invalid(message: string, code?: string): Problem {
  return { status: 400, type: 'invalid_request_error', message, ...(code === undefined ? {} : { code }) }
}

export function refused<T>(problem: Problem): Outcome<T> {
  return { ok: false, problem }
}

export function fine<T>(value: T): Outcome<T> {
  return { ok: true, value }
}

/** The error as it appears in a body or in a stream's `error` event. */
export function problemBody(problem: Problem, requestId: string): object {
  const details = problem.code === undefined ? {} : { details: { error_code: problem.code } }
  return {
    type: 'error',
    error: { type: problem.type, message: problem.message, ...details },
    request_id: requestId,
  }
}
