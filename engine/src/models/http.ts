// A fetch for the SDKs that keeps what they throw away: the whole body of a refusal, and how long a stream has been
// silent. Sends nothing of its own and retries nothing.
import { parseObject } from '../core/message/json.ts'
import type { ModelPorts } from './ports.ts'

export type Fetch = typeof globalThis.fetch

/** The stream stopped coming. Its words must not sound like a time-out of the SDK, which would hide them. */
export class SilentStream extends Error {
  constructor(milliseconds: number) {
    super(`nothing came for ${milliseconds / 1_000} s`)
  }
}

/**
 * Bodies of refusals by the headers that came with them: an SDK's error holds those very headers, but not always the
 * body. (One of them reads `error` only, so that a body without it becomes "400 status code (no body)".)
 */
const bodies = new WeakMap<object, string>()

export function bodyOfRefusal(headers: unknown): string | undefined {
  return typeof headers === 'object' && headers !== null ? bodies.get(headers) : undefined
}

export function keepingFetch(inner: Fetch | undefined, ports: ModelPorts, silenceMs: number): Fetch {
  return async (input, init) => {
    const response = await (inner ?? globalThis.fetch)(input, init)
    if (!response.ok) return kept(response)
    const type = response.headers.get('content-type') ?? ''
    if (type.includes('json') && asksForStream(input)) return asStream(response)
    if (!type.includes('event-stream') || response.body === null) return response
    return new Response(watched(response.body, ports, silenceMs), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    })
  }
}

async function kept(response: Response): Promise<Response> {
  const text = await response.text()
  // A status that allows no body must not get one, not even an empty one.
  const copy = new Response(text === '' ? null : text, { status: response.status, headers: response.headers })
  bodies.set(copy.headers, text)
  return copy
}

/** Whatever we send there asks for a stream. */
function asksForStream(input: Parameters<Fetch>[0]): boolean {
  const url = input instanceof Request ? input.url : String(input)
  return /\/(?:messages|completions)(?:\?|$)/.test(url)
}

/** Some servers answer 200 and no stream: with an error (LM Studio), or with the whole answer. The SDKs see neither. */
async function asStream(response: Response): Promise<Response> {
  const text = await response.text()
  const name = parseObject(text)?.error === undefined ? 'message' : 'error'
  const event = `event: ${name}\ndata: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`
  return new Response(event, { status: response.status, headers: { 'content-type': 'text/event-stream' } })
}

/** Counted in bytes, not events: a ping shows that somebody is there, and the SDKs do not pass pings on. */
function watched(body: ReadableStream<Uint8Array>, ports: ModelPorts, silenceMs: number): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const heard = new AbortController()
      const silence = ports.wait(silenceMs, heard.signal).then(() => undefined)
      const next = reader.read()
      try {
        const read = await Promise.race([next, silence])
        if (read === undefined) throw new SilentStream(silenceMs)
        if (read.done) controller.close()
        else controller.enqueue(read.value)
      } catch (error) {
        controller.error(error)
        if (error instanceof SilentStream) await reader.cancel(error)
      } finally {
        heard.abort()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
