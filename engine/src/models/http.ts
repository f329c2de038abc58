// A fetch for the SDKs that keeps what they throw away: the whole body of a refusal, and how long a stream has been
// silent. Sends nothing of its own and retries nothing.
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
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true
    if (!isStream || response.body === null) return response
    return new Response(watched(response.body, ports, silenceMs), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    })
  }
}

async function kept(response: Response): Promise<Response> {
  const text = await response.text()
  const copy = new Response(text, { status: response.status, headers: response.headers })
  bodies.set(copy.headers, text)
  return copy
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
