// A request of the gateway's own to an upstream, with the caller's headers, so it uses the caller's credential and bill. Reads
// the whole answer.
import type { IncomingMessage } from 'node:http'
import type { AbortSignalPort } from 'everlong/internal'
import type { Upstream } from '../upstreams.ts'
import { requestHeaders } from './headers.ts'

export type UpstreamCall = {
  readonly upstream: Upstream
  readonly path: string
  /** The unchanged headers of the caller's request. */
  readonly rawHeaders: readonly string[]
  /** Headers of the gateway's own. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly timeoutMs: number
  readonly signal?: AbortSignalPort | undefined
}

export type UpstreamAnswer =
  | {
      readonly type: 'answer'
      readonly status: number
      readonly headers: IncomingMessage['headers']
      readonly bytes: Buffer
    }
  | { readonly type: 'unreachable'; readonly why: string }
  | { readonly type: 'aborted' }

/** Headers that would change the encoding of the answer. */
const notPassed = new Set(['accept-encoding', 'content-encoding', 'content-type'])

export function callUpstream({
  upstream,
  path,
  rawHeaders,
  headers: ownHeaders = {},
  body,
  timeoutMs,
  signal,
}: UpstreamCall): Promise<UpstreamAnswer> {
  const { origin, agent } = upstream
  const own = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && !notPassed.has(name.toLowerCase()) ? [name, rawHeaders[at + 1] ?? ''] : [],
  )
  const headers = requestHeaders([...own, 'content-type', 'application/json'], {
    host: origin.host,
    length: body.length,
    own: ownHeaders,
  })
  const request = upstream.request({
    ...{ protocol: origin.protocol, hostname: origin.hostname.replace(/^\[|\]$/g, ''), port: origin.port },
    ...{ method: 'POST', path, headers, agent, setDefaultHeaders: false },
  })
  return new Promise((resolve) => {
    const abort = () => {
      request.destroy()
      resolve({ type: 'aborted' })
    }
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    const fail = (error: Error) => resolve({ type: 'unreachable', why: error.message })
    request.setTimeout(timeoutMs, () => request.destroy(new Error('it did not answer in time')))
    request.on('error', fail)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        signal?.removeEventListener('abort', abort)
        resolve({
          type: 'answer',
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        })
      })
    })
    request.end(body)
  })
}
