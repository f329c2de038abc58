// As much of the official client as our model client uses, over the call that the middleware has in hand: summaries go to
// the same address with the same credentials. Whole answers, no streams.
import { isObject, type JsonObject } from '../../core/message/json.ts'
import type { Channel } from './middleware.ts'

export type ChannelClient = {
  readonly baseURL: string
  readonly beta: {
    readonly messages: {
      readonly create: (body: never, options?: never) => Promise<AsyncIterable<unknown>>
      readonly countTokens: (body: never, options?: never) => Promise<unknown>
    }
  }
}

/** `channel` gives the newest call: an older one may have been made with credentials that are no longer valid. */
export function clientOver(channel: () => Channel): ChannelClient {
  const post = async (path: string, body: JsonObject, options: unknown) => {
    const { request, next } = channel()
    const { betas, ...rest } = body
    const headers = new Headers(request.headers)
    if (Array.isArray(betas)) headers.set('anthropic-beta', betas.join(','))
    const signal = isObject(options) && options.signal instanceof AbortSignal ? options.signal : null
    const url = request.url.replace(/\/v1\/messages(?=$|[?#])/, path)
    const response = await next({ ...request, url, headers, signal, body: JSON.stringify(rest) })
    const answer: unknown = await response.json()
    if (!response.ok) throw new RefusedRequest(response, answer)
    return answer
  }
  return {
    baseURL: originOf(channel().request.url),
    beta: {
      messages: {
        create: async (body, options) =>
          onlyEvent(await post('/v1/messages', { ...(body as JsonObject), stream: false }, options)),
        countTokens: (body, options) => post('/v1/messages/count_tokens', body, options),
      },
    },
  }
}

/** Has the fields of the errors of the SDK. */
class RefusedRequest extends Error {
  readonly status: number
  readonly headers: Headers
  readonly error: unknown

  constructor({ status, headers }: Response, error: unknown) {
    super(`The API refused the request with status ${status}.`)
    this.status = status
    this.headers = headers
    this.error = error
  }
}

async function* onlyEvent(answer: unknown): AsyncIterable<unknown> {
  yield answer
}

function originOf(url: string): string {
  return new URL(url).origin
}
