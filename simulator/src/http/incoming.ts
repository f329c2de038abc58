// What comes in over HTTP, before its meaning: who asks, which betas, and a body of bearable size that is JSON.

import { type OverflowShape, readShape, tooLarge } from '../overflow/overflow.ts'
import type { Extensions } from '../request/request.ts'
import { fine, invalid, type Outcome, type Problem, refused } from './problem.ts'

export type Incoming = {
  readonly organisation: string
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
    organisation: key,
    version: version.value,
    betas: listOf(headers.get('anthropic-beta')),
    extensions: { cacheEdits: headers.get('x-everlong-cache-edits')?.toLowerCase() === 'on' },
    overflow: readShape(headers.get('x-everlong-overflow')),
  })
}

export const noKey: Problem = { status: 401, type: 'authentication_error', message: 'x-api-key header is required' }

/** Any key will do; an organisation is whoever shares one. */
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

/** Bodies that came as strings and never went over a wire: to bytes and back would be a quarter of all the work. */
const texts = new WeakMap<Request, string>()

/** As `new Request`, but a body that is a string stays one. */
export function requestOf(input: string | URL | Request, init: RequestInit | undefined): Request {
  if (typeof init?.body !== 'string') return new Request(input, init)
  const { body, ...rest } = init
  const request = new Request(input, rest)
  texts.set(request, body)
  return request
}

export async function readBody(request: Request, longest: number): Promise<Outcome<unknown>> {
  if (Number(request.headers.get('content-length') ?? 0) > longest) return refused(tooLarge)
  const text = texts.get(request) ?? (await request.text())
  // A character is at most three bytes in UTF-8, so most bodies need no measuring.
  if (text.length * 3 > longest && Buffer.byteLength(text) > longest) return refused(tooLarge)
  try {
    return fine(JSON.parse(text))
  } catch (error) {
    return refused(
      invalid(`The request body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
}
