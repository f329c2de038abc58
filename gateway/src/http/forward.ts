// Forwards a request to the upstream and its answer back without changing or delaying a byte. Collects both for the transcript,
// which is written later. If the client disconnects, the request at the upstream ends.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Config } from '../config/schema.ts'
import type { Upstream } from '../upstreams.ts'
import { collect } from './body.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { type Refusal, refuse, type Shape, tooLarge, tooSlow, unreachable } from './refusals.ts'

export type ForwardOptions = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly upstream: Upstream
  readonly path: string
  /** The bytes to send, or the request itself to stream it. */
  readonly body: Buffer | Readable
  /** Headers of the gateway's own for the upstream. */
  readonly headers?: Readonly<Record<string, string>>
  readonly shape: Shape
  readonly limits: Config['limits']
  readonly now: () => number
}

/** How an exchange with the upstream ended. */
export type Forwarded = {
  /** `refused`: the upstream could not be reached, and the gateway answered. */
  readonly type: 'answered' | 'refused' | 'aborted'
  readonly status: number
  /** Headers of the answer. */
  readonly headers: IncomingMessage['headers']
  /** The answer, whole or up to where it broke. Undefined if it was too long to store. */
  readonly bytes: Buffer | undefined
  /** The answer was complete, and the client was still connected. */
  readonly isWhole: boolean
  /** Milliseconds until the first byte of the answer. */
  readonly firstByteMs: number | undefined
}

export async function forward(options: ForwardOptions): Promise<Forwarded> {
  const { incoming, outgoing, upstream, path, body, limits, now } = options
  // The client disconnected before anything was sent, so no event would report the end.
  if (outgoing.destroyed) return gone
  const { origin, agent } = upstream
  const started = now()
  const headers = requestHeaders(incoming.rawHeaders, {
    host: origin.host,
    length: Buffer.isBuffer(body) ? body.length : undefined,
    ...(options.headers ? { own: options.headers } : {}),
  })
  const request = upstream.request({
    ...{ protocol: origin.protocol, hostname: origin.hostname.replace(/^\[|\]$/g, ''), port: origin.port },
    ...{ method: incoming.method, path, headers, agent, setDefaultHeaders: false },
  })
  return new Promise((resolve) => {
    const kept = collect(limits.maxStoredAnswerBytes)
    let answer: IncomingMessage | undefined
    let firstByteMs: number | undefined
    let isEnded = false
    const end = (type: Forwarded['type'], isWhole = false, status = answer?.statusCode ?? 0) => {
      if (isEnded) return
      isEnded = true
      resolve({ type, status, headers: answer?.headers ?? {}, bytes: kept.bytes(), isWhole, firstByteMs })
    }
    const fail = (refusal: Refusal) => {
      request.destroy()
      if (isEnded) return
      if (answer) outgoing.destroy()
      else refuse(outgoing, refusal, options.shape)
      end(answer ? 'aborted' : 'refused', false, answer ? undefined : refusal.status)
    }
    request.setTimeout(limits.firstByteMs, () => fail(tooSlow(upstream.name)))
    request.on('error', (error) => fail(unreachable(upstream.name, reasonOf(error))))
    outgoing.once('close', () => {
      if (outgoing.writableFinished) return end('answered', answer?.complete === true)
      request.destroy()
      end('aborted')
    })
    request.on('response', (response) => {
      answer = response
      firstByteMs = now() - started
      request.setTimeout(limits.idleMs)
      const isBegun = outgoing.headersSent
      if (!isBegun) {
        outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, responseHeaders(response.rawHeaders))
        outgoing.flushHeaders()
      }
      response.on('data', kept.add)
      response.on('error', () => fail(unreachable(upstream.name, 'it broke off')))
      response.on('close', () => response.complete || fail(unreachable(upstream.name, 'it broke off')))
      if (isBegun && (response.statusCode ?? 0) >= 300) response.on('end', () => outgoing.end(errorEvent(kept.bytes())))
      else response.pipe(outgoing)
    })
    if (Buffer.isBuffer(body)) request.end(body)
    else stream(body, request, { maxBytes: limits.maxBodyBytes, onTooLarge: () => fail(tooLarge(limits.maxBodyBytes)) })
  })
}

const gone: Forwarded = {
  ...{ type: 'aborted', status: 0, headers: {}, bytes: undefined, isWhole: false, firstByteMs: undefined },
}

type Streaming = { readonly maxBytes: number; readonly onTooLarge: () => void }

/** After the limit the caller gets an answer; Node reads and drops the rest of the body. */
function stream(body: Readable, request: ClientRequest, { maxBytes, onTooLarge }: Streaming): void {
  let size = 0
  const count = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= maxBytes) return
    body.off('data', count)
    body.unpipe(request)
    onTooLarge()
  }
  body.on('data', count)
  body.pipe(request)
}

/** A stream that has begun with pings can report a refusal only with an event. */
export function errorEvent(body: Buffer | undefined): string {
  const data = (body ?? Buffer.alloc(0)).toString('utf8').replaceAll(/[\r\n]+/g, ' ')
  return `event: error\ndata: ${data}\n\n`
}

export function reasonOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'no connection'
}
