// The way between the engine's part of level 3 and the upstream: sends what the engine made of a request, passes the answer to the
// client as it comes, and remembers what the gateway asked by itself. A request that was not changed is sent in the bytes in
// which it came.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ModelAnswer } from 'everlong'
import { isObject, type JsonObject, objectAt, stringAt } from 'everlong/internal'
import { eventsOf } from '../dialects/events.ts'
import { collect } from '../http/body.ts'
import { errorEvent, type Forwarded, reasonOf } from '../http/forward.ts'
import { requestHeaders, responseHeaders } from '../http/headers.ts'
import { type Refusal, tooSlow, unreachable } from '../http/refusals.ts'
import type { Parts } from '../parts.ts'
import type { ReadableCall } from './call.ts'
import type { UpstreamWay, WireRequest } from './managed-sdk.ts'

type Sent = {
  readonly message: IncomingMessage
  readonly body: string
  readonly firstByteMs: number
  /** The failure that the stream reported at its start. */
  readonly failure: JsonObject | undefined
}

export type Wire = UpstreamWay & {
  /** Passes the answer to the client, to its end. */
  readonly answer: (response: Response) => Promise<Forwarded>
  /** The sent body for this answer. Undefined if it was the client's own. */
  readonly sentFor: (response: Response) => JsonObject | undefined
  /** Answers to the gateway's own requests. */
  readonly own: () => readonly ModelAnswer[]
  /** The reason why the upstream could not be reached, if that is why there is no answer. */
  readonly refusal: () => Refusal | undefined
}

export type WireOptions = { readonly bytes: Buffer; readonly body: JsonObject; readonly parts: Parts }

export function createWire(call: ReadableCall, { bytes, body, parts }: WireOptions): Wire {
  const { outgoing, dialect } = call
  const gone = new AbortController()
  if (outgoing.destroyed) gone.abort()
  outgoing.once('close', () => gone.abort())
  const unchanged = JSON.stringify(body)
  const sent = new WeakMap<Response, Sent>()
  const own: ModelAnswer[] = []
  const told = Promise.withResolvers<unknown>()
  let refusal: Refusal | undefined
  const next = async (request: WireRequest): Promise<Response> => {
    const isOwn = request.signal !== gone.signal
    const started = parts.now()
    const asking = call.trace.ask(call.route.upstream, isOwn ? 'own' : 'client')
    const message = await open(call, request.body === unchanged ? bytes : Buffer.from(request.body), {
      ...{ signal: gone.signal, limits: parts.config.limits },
      // The gateway reads these itself.
      isPlain: isOwn,
      headers: asking.headers,
    }).catch((error: unknown) => {
      asking.ended(0)
      if (!isOwn && error instanceof NotAsked) refusal = error.refusal
      throw error
    })
    const made = {
      status: message.statusCode ?? 502,
      headers: { 'content-type': message.headers['content-type'] ?? '' },
    }
    if (!isOwn) {
      const firstByteMs = parts.now() - started
      const { stream, failure } = mayFailEarly(call, message) ? await begun(message) : { stream: message }
      const response = new Response(Readable.toWeb(stream) as ReadableStream, made)
      message.once('close', () => asking.ended(made.status))
      sent.set(response, { message, body: request.body, firstByteMs, failure })
      return response
    }
    const read = Buffer.concat(await message.toArray())
    const answer = made.status < 300 ? dialect.readAnswer(eventsOf(read, message.headers['content-type'])) : undefined
    asking.ended(made.status)
    if (answer) {
      asking.used(answer)
      own.push({ type: 'answer', ...answer })
    }
    return new Response(read, made)
  }
  return {
    ...{ signal: gone.signal, next, own: () => own, refusal: () => refusal },
    context: {
      logger: { debug: () => undefined },
      parse: (response) => (response.ok ? told.promise : errorIn(response)),
    },
    failureIn: (response) => sent.get(response)?.failure,
    sentFor: (response) => {
      const text = sent.get(response)?.body
      return text === undefined || text === unchanged ? undefined : JSON.parse(text)
    },
    answer: async (response) => {
      const kept = collect(parts.config.limits.maxStoredAnswerBytes)
      const { message, firstByteMs } = sent.get(response) ?? {}
      const isWhole = await pipe(response, { outgoing, message, keep: kept.add })
      const { status } = response
      const read = kept.bytes()
      const answered =
        read && status < 300 ? dialect.readAnswer(eventsOf(read, message?.headers['content-type'])) : undefined
      told.resolve({ usage: answered?.raw.usage })
      const type = isWhole ? 'answered' : 'aborted'
      return { type, status, headers: message?.headers ?? {}, bytes: read, isWhole, firstByteMs }
    },
  }
}

async function errorIn(response: Response): Promise<unknown> {
  const text = await response.clone().text()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function mayFailEarly({ dialect }: ReadableCall, { statusCode = 0, headers }: IncomingMessage): boolean {
  return (
    dialect.name === 'responses' && statusCode < 300 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  )
}

const beforeOutput = new Set(['response.created', 'response.queued', 'response.in_progress'])

/** Reads up to the first event that shows whether the model answers. The stream still has everything from its beginning. */
async function begun(message: IncomingMessage): Promise<{ stream: Readable; failure: JsonObject | undefined }> {
  const iterator = message.iterator({ destroyOnReturn: false })
  const chunks: Buffer[] = []
  let telling: unknown
  while (telling === undefined) {
    const { done, value } = await iterator.next()
    if (done) break
    chunks.push(value)
    const events = eventsOf(Buffer.concat(chunks), message.headers['content-type'])
    telling = events.find((event) => !beforeOutput.has(stringAt(event, 'type') ?? ''))
  }
  const isFailed = ['response.failed', 'error'].includes(stringAt(telling, 'type') ?? '')
  const error = objectAt(objectAt(telling, 'response'), 'error') ?? telling
  const all = async function* () {
    yield* chunks
    yield* iterator
  }
  return {
    stream: Readable.from(all(), { objectMode: false }),
    failure: isFailed && isObject(error) ? error : undefined,
  }
}

/** The upstream could not be reached. */
class NotAsked extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

type Opening = {
  readonly signal: AbortSignal
  readonly isPlain: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly limits: Parts['config']['limits']
}

function open(
  call: ReadableCall,
  body: Buffer,
  { signal, isPlain, headers: own, limits }: Opening,
): Promise<IncomingMessage> {
  const { incoming, outgoing, route } = call
  const { upstream, path } = route
  const { origin, agent } = upstream
  const raw = isPlain
    ? incoming.rawHeaders.flatMap((name, at, all) =>
        at % 2 === 0 && name.toLowerCase() !== 'accept-encoding' ? [name, all[at + 1] ?? ''] : [],
      )
    : incoming.rawHeaders
  const headers = requestHeaders(raw, { host: origin.host, length: body.length, own })
  return new Promise((resolve, reject) => {
    const request = upstream.request({
      ...{ protocol: origin.protocol, hostname: origin.hostname.replace(/^\[|\]$/g, ''), port: origin.port, signal },
      ...{ method: 'POST', path, headers, agent, setDefaultHeaders: false },
    })
    let isAnswered = false
    request.setTimeout(limits.firstByteMs, () => {
      reject(new NotAsked(tooSlow(upstream.name)))
      request.destroy()
      // In the middle of an answer: the upstream is silent, or the client has stopped reading.
      if (isAnswered && !isPlain) outgoing.destroy()
    })
    request.on('error', (error) => reject(new NotAsked(unreachable(upstream.name, reasonOf(error)))))
    request.on('response', (response) => {
      isAnswered = true
      request.setTimeout(limits.idleMs)
      resolve(response)
    })
    request.end(body)
  })
}

type Piping = {
  readonly outgoing: ReadableCall['outgoing']
  readonly message: IncomingMessage | undefined
  readonly keep: (chunk: Buffer) => void
}

/** Whether the answer arrived whole. */
async function pipe(response: Response, { outgoing, message, keep }: Piping): Promise<boolean> {
  if (outgoing.destroyed) return false
  const isBegun = outgoing.headersSent
  if (!isBegun) outgoing.writeHead(response.status, responseHeaders(message?.rawHeaders ?? []))
  if (isBegun && !response.ok) {
    outgoing.end(errorEvent(Buffer.from(await response.arrayBuffer())))
    return true
  }
  try {
    for await (const chunk of response.body ?? []) {
      const bytes = Buffer.from(chunk)
      keep(bytes)
      if (!outgoing.write(bytes)) await drained(outgoing)
      if (outgoing.destroyed) return false
    }
  } catch {
    outgoing.destroy()
    return false
  }
  outgoing.end()
  return true
}

/** Resolves when there is room again, or when the connection is closed. */
function drained(outgoing: ReadableCall['outgoing']): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.on('drain', done).on('close', done)
  })
}
