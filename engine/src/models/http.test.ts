// A server that stops answering: before its headers, in a refusal, in a stream, in a count.
import { describe, expect, test } from 'vitest'
import type { ModelClient, ModelRequest } from '../core/ports/model.ts'
import { anthropic } from './anthropic/client.ts'
import { type Fetch, keepingFetch } from './http.ts'
import { openai } from './openai/client.ts'
import type { SdkOptions } from './sdk.ts'

const silenceMs = 40
const hello: ModelRequest = { source: 'turn', model: '', maxTokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
const retry = { retries: 1, firstWaitMs: 1 }
const base = { model: 'm', apiKey: 'key', baseURL: 'http://127.0.0.1:9', silenceMs, retry }
const clients: readonly (readonly [string, (setup: SdkOptions) => ModelClient])[] = [
  ['anthropic', (setup) => anthropic({ ...base, ...setup })],
  ['openai', (setup) => openai({ ...base, ...setup })],
]

/** Rejects only on abort, like a real fetch. */
function silentServer() {
  let open = 0
  let asked = 0
  const fetch: Fetch = (_, init) => {
    asked++
    open++
    return new Promise((__, reject) => {
      init?.signal?.addEventListener('abort', () => {
        open--
        reject(init.signal?.reason)
      })
    })
  }
  return { fetch, state: () => ({ asked, open }) }
}

/** Sends headers and the first bytes, then nothing. */
function stallingServer(status: number, type: string) {
  let cancelled = 0
  const fetch: Fetch = async () => {
    const start = (controller: ReadableStreamDefaultController) => controller.enqueue(new TextEncoder().encode('{'))
    const body = new ReadableStream({ start, cancel: () => void cancelled++ })
    return new Response(body, { status, headers: { 'content-type': type } })
  }
  return { fetch, cancelled: () => cancelled }
}

const silent = { type: 'failed', reason: 'transient', message: expect.stringContaining('nothing came for 0.04 s') }

describe.each(clients)('the %s client', (_, make) => {
  test('gives up on a server that never sends headers, tries again, and leaves no request open', async () => {
    const { fetch, state } = silentServer()
    expect(await make({ fetch }).send(hello)).toMatchObject({ ...silent, tries: 2 })
    expect(state()).toEqual({ asked: 2, open: 0 })
  })

  test.each([
    [200, 'text/event-stream'],
    [200, 'application/json'],
    [400, 'application/json'],
  ])('gives up on a body that stops coming: status %s, %s', async (status, type) => {
    const { fetch, cancelled } = stallingServer(status, type)
    expect(await make({ fetch }).send(hello)).toMatchObject(silent)
    expect(cancelled()).toBe(2)
  })

  test('still ends at once when it is aborted before the headers', async () => {
    const { fetch, state } = silentServer()
    const stop = new AbortController()
    const failed = make({ fetch, silenceMs: 60_000 }).send(hello, { signal: stop.signal })
    while (state().asked === 0) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    expect(await failed).toMatchObject({ type: 'failed', reason: 'aborted' })
    expect(state()).toEqual({ asked: 1, open: 0 })
  })
})

test('asking about a model does not wait forever either', async () => {
  const client = anthropic({ ...base, fetch: stallingServer(200, 'application/json').fetch })
  expect(await client.describe?.('m')).toMatchObject(silent)
})

test('an answer of JSON in several lines is read as one event', async () => {
  const body = JSON.stringify({ type: 'message', content: [{ type: 'text', text: 'Hi' }] }, null, 2)
  const headers = { 'content-type': 'application/json' }
  const ports = { now: () => 0, wait: () => new Promise<void>(() => undefined), random: () => 0 }
  const fetch = keepingFetch(async () => new Response(body, { headers }), { ports: ports as never, silenceMs: 1_000 })
  const text = await (await fetch('http://127.0.0.1:9/v1/messages', { method: 'POST' })).text()
  const [event, data, ...rest] = text.split('\n')
  expect([event, JSON.parse(data?.replace(/^data: /, '') ?? ''), rest]).toEqual([
    'event: message',
    JSON.parse(body),
    ['', ''],
  ])
})
