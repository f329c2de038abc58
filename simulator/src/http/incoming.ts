// The input over HTTP before it is interpreted: the caller, the betas, and a JSON body of limited size.

import { type OverflowShape, readShape, tooLarge } from '../overflow/overflow.ts'
import type { Extensions } from '../request/request.ts'
import { fine, invalid, type Outcome, type Problem, refused } from './problem.ts'

export type Incoming = {
  readonly organization: string
  readonly version: ApiVersion
  readonly betas: ReadonlySet<string>
  readonly extensions: Extensions
  readonly overflow: OverflowShape | undefined
}

const versions = ['2026-10-21', '2023-06-01', '2023-01-01'] as const

/** The version of the API that a request is written for. */
export type ApiVersion = (typeof versions)[number]

export function readHead(headers: Headers): Outcome<Incoming> {
  const key = keyOf(headers)
  if (key === '') return refused(noKey)
  const version = readVersion(headers.get('anthropic-version'))
  if (!version.ok) return version
  return fine({
    organization: key,
    version: version.value,
    betas: listOf(headers.get('anthropic-beta')),
    extensions: { cacheEdits: headers.get('x-everlong-cache-edits')?.toLowerCase() === 'on' },
    overflow: readShape(headers.get('x-everlong-overflow')),
  })
}

export const noKey: Problem = { status: 401, type: 'authentication_error', message: 'x-api-key header is required' }

/** Any key is valid. An organization is everyone who shares one. */
export function keyOf(headers: Headers): string {
  const bearer = /^Bearer\s+(.*)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
  return (headers.get('x-api-key') ?? '').trim() || bearer.trim()
}

function readVersion(header: string | null): Outcome<ApiVersion> {
  if (header === null) return refused(invalid('anthropic-version: header is required'))
  const version = versions.find((known) => known === header)
  return version === undefined
    ? refused(invalid(`anthropic-version: "${header}" is not a valid version`))
    : fine(version)
}

function listOf(header: string | null): ReadonlySet<string> {
  return new Set(
    (header ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  )
}

/** Bodies that arrived as strings and never went over a wire. Converting them to bytes and back would be a quarter of all the work. */
const texts = new WeakMap<Request, string>()

/** Like `new Request`, but keeps a string body. */
export function requestOf(input: string | URL | Request, init: RequestInit | undefined): Request {
  if (typeof init?.body !== 'string') return new Request(input, init)
  const { body, ...rest } = init
  const request = new Request(input, rest)
  texts.set(request, body)
  return request
}

export async function readBody(request: Request, maxBytes: number): Promise<Outcome<unknown>> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return refused(tooLarge)
  const text = texts.get(request) ?? (await request.text())
  // A character is at most three bytes in UTF-8, so most bodies need no measuring.
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) return refused(tooLarge)
  const lone = loneSurrogate(text)
  if (lone !== undefined) return refused(invalid(`The request body is not valid JSON: ${lone}`))
  try {
    return fine(JSON.parse(text))
  } catch (error) {
    return refused(
      invalid(`The request body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
}

const escapes = /\\(?:u([0-9a-fA-F]{4})|[\s\S])/g
const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** Finds half a character, which JavaScript writes and reads but the API's parser does not. Only escapes can contain one. */
function loneSurrogate(text: string): string | undefined {
  if (!/\\ud[89a-f]/i.test(text)) return undefined
  let high: number | undefined
  for (const { 1: digits, index } of text.matchAll(escapes)) {
    const code = digits === undefined ? -1 : Number.parseInt(digits, 16)
    const isNext = high !== undefined && digits !== undefined && index === high + '\\ud800'.length
    if (high !== undefined && !(isNext && isLow(code))) {
      return placed(isNext ? 'invalid low surrogate in string' : 'no low surrogate in string', text, high)
    }
    if (high === undefined && isLow(code)) return placed('invalid high surrogate in string', text, index)
    high = high === undefined && isHigh(code) ? index : undefined
  }
  return high === undefined ? undefined : placed('no low surrogate in string', text, high)
}

function placed(what: string, text: string, at: number): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return `${what}: line ${line} column ${at - before.lastIndexOf('\n')} (char ${at})`
}
