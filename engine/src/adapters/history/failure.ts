// Reads an SDK's error as a failure of the model. SDKs keep the status and the provider's message in different fields.
import { defined, isObject, type JsonObject, numberAt } from '../../core/message/json.ts'
import type { ModelFailure } from '../../core/ports/model.ts'
import { readRefusal } from '../../core/request/refusal.ts'
import type { FailedTry } from '../../models/retry.ts'

/** Maximum depth of errors that wrap others (retries, agents). */
const maxDepth = 5

export function isAbout(failure: ModelFailure): 'length' | 'other' {
  return failure.reason === 'overflow' || failure.reason === 'too-large' ? 'length' : 'other'
}

export function failureOf(error: unknown): ModelFailure {
  const found = errorsIn(error).map(read)
  return found.find((failure) => isAbout(failure) === 'length') ?? found[0] ?? read({})
}

/** For a client that may try again. */
export function failedTry(error: unknown): FailedTry {
  const { type: _, tries: __, ...rest } = failureOf(error)
  return { type: 'try-failed', ...rest }
}

function errorsIn(error: unknown, depth = 0): readonly JsonObject[] {
  if (!isObject(error) || depth > maxDepth) return []
  const inner = [error.lastError, error.cause].flatMap((item) => errorsIn(item, depth + 1))
  return [error, ...inner]
}

function read(error: JsonObject): ModelFailure {
  if (error.name === 'AbortError')
    return { type: 'failed', reason: 'aborted', message: 'The call was aborted.', tries: 1 }
  const status = numberAt(error, 'status') ?? numberAt(error, 'statusCode')
  const body = error.responseBody ?? error.error ?? error.data
  // Named because it is not enumerable on errors.
  const said = { message: String(error.message ?? ''), code: error.code }
  const { reason, message, code, overflow, media } = readRefusal({
    ...defined({ status }),
    body: body === undefined || body === '' ? said : body,
  })
  return {
    type: 'failed',
    reason,
    message,
    tries: 1,
    ...defined({ status, code, overflow, media }),
  }
}
