// Middleware for the official client of the Messages API: reduces each request before it is sent, and sends a smaller one if the
// prompt was still too long. Requests without their own history (threads, counting, batches) pass unchanged.
import type { Middleware, MiddlewareContext, MiddlewareNext } from '@anthropic-ai/sdk'
import {
  arrayAt,
  defined,
  isObject,
  type JsonObject,
  objectAt,
  parseObject,
  stringAt,
} from '../../core/message/json.ts'
import { readUsage } from '../../core/message/usage.ts'
import type { ModelClient, ModelRequest } from '../../core/ports/model.ts'
import { failureOf, isAbout } from '../history/failure.ts'
import type { CallOptions, HistoryOf, ManagedHistory } from '../history/managed-history.ts'
import { type MessageConversion, type MessageParam, marksItself } from './messages.ts'

/** Middleware of the official SDK. */
export type AnthropicMiddleware = Middleware

type ApiRequest = Parameters<Middleware>[0]

/** A request of the Messages API as the middleware sees it. */
export type MessagesCall = {
  readonly url: string
  readonly headers: Headers
  readonly body: JsonObject
}

/** Header that names the conversation of a request. It is not sent to the API. */
export const sessionHeader = 'everlong-session'

/** How to send a request about the conversation: with the headers and the address of the current call. */
export type Channel = { readonly request: ApiRequest; readonly next: MiddlewareNext }

export type MiddlewareParts = Pick<MessageConversion, 'unmarked'> & {
  readonly historyOf: HistoryOf<MessageParam, MessagesCall>
  /** Returns the client that writes the summaries. It gets the name of the called model and a way to send requests. */
  readonly clientFor: (model: string, channel: Channel) => ModelClient
  /** Whether that client asks the called model. */
  readonly asksCalled: boolean
}

export function createMiddleware({ historyOf, clientFor, asksCalled, unmarked }: MiddlewareParts): Middleware {
  const observed = new WeakMap<ManagedHistory<MessageParam>, Promise<void>>()
  return async (given, next, context) => {
    const body = managedBody(given)
    if (!body) return next(given)
    const headers = new Headers(given.headers)
    const host = { url: given.url, headers: new Headers(headers), body }
    headers.delete(sessionHeader)
    const request = { ...given, headers }
    const messages = arrayAt(body, 'messages') as readonly MessageParam[]
    const name = stringAt(body, 'model') ?? ''
    const client = clientFor(name, { request, next })
    const id = host.headers.get(sessionHeader) ?? undefined
    const history = await historyOf({ host, id, messages, client: () => client, model: name, asksCalled })
    // The usage of a streamed answer is known only when its stream has ended.
    await observed.get(history)
    const call: Call = { request, next, context, history, body, unmarked }
    const options = { base: baseOf(body), model: { client, name }, signal: request.signal ?? undefined }
    const response = await send(call, messages, options)
    observed.set(history, observe(call, response))
    return response
  }
}

type Call = Channel &
  Pick<MessageConversion, 'unmarked'> & {
    readonly context: MiddlewareContext
    readonly history: ManagedHistory<MessageParam>
    readonly body: JsonObject
  }

/** Undefined if the request is not managed: another address, history on the server, a compaction by the server. */
function managedBody({ url, method, body }: ApiRequest): JsonObject | undefined {
  const path = url.split(/[?#]/)[0] ?? ''
  if (!path.endsWith('/v1/messages') || method?.toUpperCase() !== 'POST' || typeof body !== 'string') return undefined
  const parsed = parseObject(body)
  if (!parsed || parsed.thread || parsed.compaction) return undefined
  const messages = arrayAt(parsed, 'messages')
  return messages.length > 0 && messages.every(isMessage) ? parsed : undefined
}

function isMessage(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.role === 'string' &&
    (typeof value.content === 'string' || Array.isArray(value.content))
  )
}

function baseOf(body: JsonObject): NonNullable<CallOptions['base']> {
  const { system, tools, max_tokens, thinking, model: _, messages: __, stream: ___, ...options } = body
  return {
    ...(system ? { system: system as string } : {}),
    ...(Array.isArray(tools) ? { tools } : {}),
    ...(typeof max_tokens === 'number' ? { maxTokens: max_tokens } : {}),
    ...(isObject(thinking) ? { thinking } : {}),
    options,
  }
}

async function send(call: Call, messages: readonly MessageParam[], options: CallOptions): Promise<Response> {
  const { history, next, context } = call
  const { messages: prepared, outcome } = await history.prepare(messages, options)
  const ready = outcome.type === 'ready' ? outcome : undefined
  const first = await next(withBody(call, prepared, ready))
  if (first.ok) return first
  const recovered = await history.recover(await refusalOf(first, context), options)
  if (!recovered) return first
  const { maxTokens } = recovered
  const lower = maxTokens === undefined ? {} : { max_tokens: maxTokens }
  const second = await next(
    withBody({ ...call, body: { ...call.body, ...lower } }, recovered.messages, recovered.request),
  )
  if (second.ok) return second
  return isAbout(failureOf(await refusalOf(second, context))) === 'length' ? first : second
}

async function refusalOf(response: Response, context: MiddlewareContext): Promise<JsonObject> {
  return { status: response.status, error: await context.parse(response) }
}

/** The caller's request with other messages and the options that the engine adds. */
function withBody(call: Call, messages: readonly MessageParam[], ready: ModelRequest | undefined): ApiRequest {
  const { request, body, unmarked } = call
  const headers = new Headers(request.headers)
  for (const beta of ready?.betas ?? []) addBeta(headers, beta)
  const isMarked = marksItself(body)
  const sent = {
    ...body,
    ...(ready ? preparedFields(body, ready) : {}),
    ...(ready && !isMarked ? defined({ system: ready.system, tools: ready.tools }) : {}),
    messages: isMarked ? messages.map(unmarked) : messages,
  }
  return { ...request, headers, body: JSON.stringify(sent) }
}

/** Manual thinking cannot start in the middle of an answer, so the engine omits it there. */
function preparedFields(body: JsonObject, { options, thinking }: ModelRequest): JsonObject {
  const management = options?.context_management
  return {
    ...(management === undefined ? {} : { context_management: management }),
    ...(isObject(body.thinking) ? { thinking } : {}),
  }
}

function addBeta(headers: Headers, beta: string): void {
  const known = (headers.get('anthropic-beta') ?? '').split(',').map((one) => one.trim())
  if (!known.includes(beta)) headers.set('anthropic-beta', [...known, beta].filter((one) => one !== '').join(','))
}

/** Reports the usage of an answer to the history. A broken stream has none; its error reaches the caller. */
async function observe({ context, history }: Call, response: Response): Promise<void> {
  if (!response.ok) return
  try {
    const usage = await usageIn(await context.parse(response))
    const counts = readUsage(usage)
    history.reportUsage(counts?.iterations?.at(-1) ?? counts)
  } catch (error) {
    context.logger.debug('everlong: the usage of an answer could not be read', error)
  }
}

async function usageIn(answer: unknown): Promise<JsonObject> {
  if (!isStream(answer)) return objectAt(answer, 'usage') ?? {}
  let usage: JsonObject = {}
  for await (const event of answer) {
    const reported = objectAt(objectAt(event, 'message') ?? event, 'usage') ?? {}
    // A later null erases nothing.
    usage = { ...usage, ...Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== null)) }
  }
  return usage
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
}

/** The part of the official client that our model client uses: whole answers, no streams. */
type ChannelClient = {
  readonly baseURL: string
  readonly beta: {
    readonly messages: { readonly create: (body: never, options?: never) => Promise<AsyncIterable<unknown>> }
  }
}

/**
 * A client that sends through the middleware's current call, so summaries go to the same address with the same credentials.
 * `channel` returns the newest call, because the credentials of an older one may have expired.
 */
export function clientOver(channel: () => Channel): ChannelClient {
  const create = async (body: JsonObject, options: unknown) => {
    const { request, next } = channel()
    const { betas, ...rest } = body
    const headers = new Headers(request.headers)
    if (Array.isArray(betas)) headers.set('anthropic-beta', betas.join(','))
    const signal = isObject(options) && options.signal instanceof AbortSignal ? options.signal : null
    const response = await next({ ...request, headers, signal, body: JSON.stringify({ ...rest, stream: false }) })
    const answer: unknown = await response.json()
    if (!response.ok) throw new RefusedRequest(response, answer)
    return onlyEvent(answer)
  }
  return {
    baseURL: new URL(channel().request.url).origin,
    beta: { messages: { create } },
  }
}

/** Has the fields of the SDK's errors. */
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
