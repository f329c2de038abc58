// Classifies a provider's refusal. A rate limit is never an overflow, even if it uses the same words.
import { defined, isObject, numberAt, objectAt, parseObject, stringAt } from '../message/json.ts'
import { totalOf } from '../message/usage.ts'
import type { FailureReason, ModelAnswer, ModelFailure, Overflow } from '../ports/model.ts'
import { headOf } from '../text/cut.ts'
import { overflowRows, rateLimitWords, tooLargeWords, tooMuchMedia } from './overflow-shapes.ts'

export type Refusal = {
  /** Absent if the refusal came inside a stream that began with 200, or if there was no response. */
  readonly status?: number
  /** An object, JSON text or any other text. */
  readonly body: unknown
  /** The URL of the request: one provider refuses with a status and nothing else. */
  readonly endpoint?: string
}

export type Verdict = {
  readonly reason: Exclude<FailureReason, 'aborted'>
  readonly message: string
  /** The provider's own name for the error. */
  readonly code?: string
  readonly overflow?: Overflow
  readonly media?: ModelFailure['media']
  readonly shape?: string
}

/** No error is longer; the rest is an echo of the prompt. */
const maxTextLength = 16_000
const maxDepth = 8

export function readRefusal(refusal: Refusal): Verdict {
  const status = refusal.status === undefined || refusal.status < 300 ? statusIn(refusal.body) : refusal.status
  const texts = textsOf(refusal.body)
  const all = texts.join('\n').slice(0, maxTextLength)
  const said = { message: messageOf(refusal, texts), ...codeIn(refusal.body) }
  const isRateLimit = rateLimitWords.test(all)
  const found = isRateLimit || !mayBeOverflow(status) ? undefined : overflowIn(refusal, all)
  if (found !== undefined) return { reason: 'overflow', ...said, ...found }
  if (!isRateLimit && (status === 413 || (mayBeOverflow(status) && tooLargeWords.test(all))))
    return { reason: 'too-large', ...said, ...mediaIn(all) }
  return { reason: reasonOf(status, all, isRateLimit), ...said }
}

/**
 * An overflow that shows only in the answer: the window ended it, the provider accepted too much (z.ai), or it cut off the prompt
 * (MiMo, LM Studio).
 */
export function overflowOfAnswer(answer: ModelAnswer, window?: number): Overflow | undefined {
  const last = answer.usage.iterations?.at(-1) ?? answer.usage
  const actual = totalOf(last) - last.output
  if (answer.stopReason === 'model_context_window_exceeded') {
    return defined({ actual: actual > 0 ? actual : undefined, limit: window })
  }
  if (window === undefined) return undefined
  const saidNothing = answer.content.length === 0 && last.output === 0
  return actual > window || (saidNothing && actual >= window * 0.99) ? { actual, limit: window } : undefined
}

/** Only these statuses can be an overflow. 500 and 502 are included because local servers and proxies use them for client errors. */
function mayBeOverflow(status: number | undefined): boolean {
  return status === undefined || [400, 413, 422, 424, 500, 502].includes(status)
}

function overflowIn(refusal: Refusal, text: string): Pick<Verdict, 'overflow' | 'shape'> | undefined {
  for (const { shape, pattern } of overflowRows) {
    const match = pattern.exec(text)
    if (match === null) continue
    const numbers = { ...fieldsIn(refusal.body), ...numbersIn(match.groups ?? {}) }
    return { shape, overflow: shape === 'vllm-at-least' ? withoutGuess(numbers) : numbers }
  }
  const isBare = refusal.status === 400 && text.trim() === '' && /cerebras/i.test(refusal.endpoint ?? '')
  return isBare ? { shape: 'cerebras', overflow: {} } : undefined
}

/** Drops a count of limit − output + 1. The server stopped counting there, so the count only means "at least". */
function withoutGuess({ actual, ...rest }: Overflow): Overflow {
  const { limit = 0, maxTokens = 0 } = rest
  return actual === undefined || actual === limit - maxTokens + 1 ? rest : { actual, ...rest }
}

function numbersIn(groups: { readonly [name: string]: string | undefined }): Overflow {
  const read = (name: string): number | undefined => {
    const digits = groups[name]?.replace(/[,_]/g, '')
    return digits === undefined || digits.length > 12 ? undefined : Number(digits)
  }
  const limit = read('limit')
  const total = read('total')
  const output = read('output')
  const over = read('over')
  const actual =
    read('actual') ??
    (total === undefined ? undefined : total - (output ?? 0)) ??
    (limit !== undefined && over !== undefined ? limit + over : undefined)
  return defined({ actual, limit, maxTokens: output || undefined })
}

/** Counts pages and images together. The wording without pages counts documents. */
function mediaIn(text: string): Pick<Verdict, 'media'> {
  const match = tooMuchMedia.exec(text)?.groups
  if (!match) return {}
  return { media: { count: Number(match.one) + Number(match.other), limit: Number(match.limit) } }
}

/** llama.cpp reports its numbers in fields. */
function fieldsIn(body: unknown): Overflow {
  const error = errorIn(body)
  return defined({ actual: numberAt(error, 'n_prompt_tokens'), limit: numberAt(error, 'n_ctx') })
}

const refusedWords =
  /authentication_error|permission_error|billing_error|not_found_error|insufficient_quota|invalid_api_key|credit balance|spend limit|billing/i
const transientWords =
  /overloaded|api_error|rate_limit|timeout_error|server_error|internal server error|unavailable|at capacity/i

function reasonOf(status: number | undefined, text: string, isRateLimit: boolean): Verdict['reason'] {
  if (status !== undefined && [401, 402, 403, 404].includes(status)) return 'refused'
  if (isRateLimit && asksForMoreThanAllowed(text)) return 'refused'
  if (status === 429)
    return /insufficient_quota|billing|credit|extra usage is required/i.test(text) ? 'refused' : 'transient'
  if (status === 413) return 'refused'
  if (status !== undefined && ([408, 409, 425].includes(status) || status >= 500)) return 'transient'
  if (status !== undefined && status >= 400) return refusedWords.test(text) ? 'refused' : 'invalid'
  if (isRateLimit || transientWords.test(text)) return 'transient'
  if (refusedWords.test(text)) return 'refused'
  return /invalid_request|invalid_argument|bad request/i.test(text) ? 'invalid' : 'transient'
}

/** "Limit 6000, Requested 7000": waiting does not help, only a higher quota does. */
function asksForMoreThanAllowed(text: string): boolean {
  const match = /limit:? (?<limit>\d[\d,]*), (?:used:? \d[\d,]*, )?requested:? (?<requested>\d[\d,]*)/i.exec(text)
  const read = (name: string): number => Number(match?.groups?.[name]?.replaceAll(',', ''))
  return match !== null && read('requested') > read('limit')
}

/** Every string in a body, including JSON inside strings, because gateways wrap the provider's error text. */
function textsOf(body: unknown, depth = 0): readonly string[] {
  if (depth > maxDepth) return []
  if (typeof body === 'string') {
    const inner = body.trimStart().startsWith('{') ? parseObject(body) : undefined
    return inner === undefined ? [body.slice(0, maxTextLength)] : textsOf(inner, depth + 1)
  }
  if (Array.isArray(body)) return body.slice(0, 20).flatMap((item) => textsOf(item, depth + 1))
  return isObject(body) ? Object.values(body).flatMap((value) => textsOf(value, depth + 1)) : []
}

/** Inside a stream that began with 200, gateways report the status that they would have sent. */
function statusIn(body: unknown): number | undefined {
  const error = errorIn(body)
  const code = Number(numberAt(error, 'code') ?? numberAt(error, 'status') ?? stringAt(error, 'code'))
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined
}

function codeIn(body: unknown): { readonly code?: string } {
  const error = errorIn(body)
  const code = stringAt(objectAt(error, 'details'), 'error_code') ?? stringAt(error, 'code')
  return code !== undefined && /^[a-z][\w.-]{0,99}$/i.test(code) ? { code } : {}
}

function errorIn(body: unknown): unknown {
  const object = typeof body === 'string' ? parseObject(body) : body
  return isObject(object) && isObject(object.error) ? object.error : object
}

/** The provider's own message if there is one. */
function messageOf({ status, body }: Refusal, texts: readonly string[]): string {
  const error = errorIn(body)
  const said = stringAt(error, 'message') ?? stringAt(error, 'error') ?? texts.join(' ')
  const text = headOf(said.trim(), 2_000)
  return text === '' ? (status === undefined ? 'no word from the server' : `status ${status}, no body`) : text
}
