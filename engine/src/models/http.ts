// A fetch for the SDKs. It keeps the whole body of a refusal, which they drop, and gives up on a server that is silent for too
// long. It adds nothing to requests and does not retry.
import { parseObject } from '../core/message/json.ts'
import type { ModelPorts } from './ports.ts'

export type Fetch = typeof globalThis.fetch

/** Nothing came from the server. The message must not sound like a timeout of the SDK, which would hide it. */
export class SilentServer extends Error {
  constructor(milliseconds: number) {
    super(`nothing came for ${milliseconds / 1_000} s`)
  }
}

/**
 * Bodies of refusals by their headers object. An SDK's error holds the same object, but not always the body. (One SDK reads only
 * `error`, so a body without it becomes "400 status code (no body)".)
 */
const bodies = new WeakMap<object, string>()

export function bodyOfRefusal(headers: unknown): string | undefined {
  return typeof headers === 'object' && headers !== null ? bodies.get(headers) : undefined
}

/** How long a server may be silent, before its headers and between two chunks of a body. */
type Watch = { readonly ports: ModelPorts; readonly silenceMs: number }

export function keepingFetch(inner: Fetch | undefined, watch: Watch): Fetch {
  const send = inner ?? globalThis.fetch
  return async (input, init) => {
    const given = new AbortController()
    const signal = AbortSignal.any([given.signal, ...(init?.signal ? [init.signal] : [])])
    const response = await unlessSilent(send(input, { ...init, signal }), watch).catch((error: unknown) => {
      given.abort(error)
      throw error
    })
    if (response.body === null) return response.ok ? response : kept(response)
    const { status, statusText, headers } = response
    const heard = new Response(watched(response.body, watch), { status, statusText, headers })
    if (!response.ok) return kept(heard)
    // All our requests to these paths ask for a stream.
    const asksForStream = /\/(?:messages|completions)(?:\?|$)/.test(
      input instanceof Request ? input.url : String(input),
    )
    return asksForStream && headers.get('content-type')?.includes('json') ? asStream(heard) : heard
  }
}

/** The next value from the server, or a SilentServer if it takes too long. */
async function unlessSilent<T>(next: Promise<T>, { ports, silenceMs }: Watch): Promise<T> {
  const heard = new AbortController()
  const silence = ports.wait(silenceMs, heard.signal).then((): never => {
    throw new SilentServer(silenceMs)
  })
  try {
    return await Promise.race([next, silence])
  } finally {
    heard.abort()
  }
}

async function kept(response: Response): Promise<Response> {
  const text = await response.text()
  // A status that forbids a body must not get one, not even an empty one.
  const copy = new Response(text === '' ? null : text, { status: response.status, headers: response.headers })
  bodies.set(copy.headers, text)
  return copy
}

/** Some servers answer 200 without a stream: with an error (LM Studio), or with the whole answer. The SDKs recognize neither. */
async function asStream(response: Response): Promise<Response> {
  const text = await response.text()
  const name = parseObject(text)?.error === undefined ? 'message' : 'error'
  const event = `event: ${name}\ndata: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`
  return new Response(event, { status: response.status, headers: { 'content-type': 'text/event-stream' } })
}

/** Watches bytes, not events, because a ping shows that the server is alive and the SDKs do not pass pings on. */
function watched(body: ReadableStream<Uint8Array>, watch: Watch): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const read = await unlessSilent(reader.read(), watch)
        if (read.done) controller.close()
        else controller.enqueue(read.value)
      } catch (error) {
        controller.error(error)
        if (error instanceof SilentServer) await reader.cancel(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
