// Both of Everlong's clients with a server: the contract of model clients, and everything that can go wrong on the way,
// over real HTTP on this machine.
import type { ModelClient, ModelRequest, StreamEvent } from 'everlong'
import { type AnthropicOptions, anthropic } from 'everlong/anthropic'
import { type ModelPorts, systemPorts } from 'everlong/internal'
import { openai } from 'everlong/openai'
import { runModelContract } from 'everlong/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'
import { stillPorts } from '../testing/still-ports.ts'

let server: RunningServer

beforeAll(async () => {
  const script = callsOnce([{ type: 'tool_use', name: 'read', input: {} }])
  server = await startServer({ script, windows: { 'claude-haiku-4-5': 500 }, maxBodyBytes: 20_000 })
})
afterAll(() => server.close())

type Setup = Omit<AnthropicOptions, 'model' | 'client'>

const clients: readonly (readonly [string, (setup: Setup) => ModelClient])[] = [
  ['anthropic', (setup) => anthropic({ model: 'claude-sonnet-5', apiKey: 'key', baseURL: server.url, ...setup })],
  ['openai', (setup) => openai({ model: 'claude-sonnet-5', apiKey: 'key', baseURL: `${server.url}/v1`, ...setup })],
]

const text = 'A plain answer with 🎈 in it, long enough to come in several pieces.'
const answered = { type: 'answer', content: [{ type: 'text', text }], stopReason: 'end_turn' }
const hello: ModelRequest = {
  source: 'turn',
  model: '',
  maxTokens: 200,
  messages: [{ role: 'user', content: 'Hello' }],
}
const long = {
  ...hello,
  model: 'claude-haiku-4-5',
  messages: [{ role: 'user' as const, content: 'word '.repeat(600) }],
}
const large = { ...hello, messages: [{ role: 'user' as const, content: 'word '.repeat(6_000) }] }
const unpaired: ModelRequest = {
  ...hello,
  messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'nobody', content: 'x' }] }],
}

/** A fetch that asks for faults, one for each request, and keeps the bodies. */
function wireWith(...faults: readonly (string | undefined)[]) {
  const bodies: string[] = []
  const fetch: NonNullable<AnthropicOptions['fetch']> = (input, init) => {
    const headers = new Headers(init?.headers)
    const fault = faults[Math.min(bodies.length, faults.length - 1)]
    if (fault !== undefined) headers.set('x-everlong-fault', fault)
    bodies.push(String(init?.body))
    return globalThis.fetch(input, { ...init, headers })
  }
  return { fetch, bodies }
}

describe.each(clients)('the %s client', (_, make) => {
  test('keeps the contract of model clients', async () => {
    const { fetch, bodies } = wireWith(undefined)
    const nobody = make({ baseURL: 'http://127.0.0.1:9', ports: stillPorts() })
    const report = await runModelContract({
      client: make({ fetch, ports: stillPorts() }),
      request: hello,
      sent: () => bodies.filter((body) => body !== 'undefined'),
      failing: [
        { request: long, reason: 'overflow' },
        { request: large, reason: 'too-large' },
        { request: unpaired, reason: 'invalid' },
        { request: hello, reason: 'refused', client: make({ apiKey: ' ', ports: stillPorts() }) },
        { request: hello, reason: 'transient', client: nobody },
      ],
    })
    expect(report).toMatchObject({ broken: [], answer: answered })
  })

  const transient = [
    'rate-limit; retry-after-ms=1234',
    'overloaded',
    'server-error',
    'cut-before',
    'cut-during; after-bytes=400',
    'truncate; after-events=2',
  ]

  test.each(transient)('sends again what met %s, and tells it', async (fault) => {
    const ports = stillPorts()
    const events: StreamEvent[] = []
    const { fetch, bodies } = wireWith(fault, undefined)
    const answer = await make({ fetch, ports }).send(hello, { onEvent: (event) => events.push(event) })
    expect(answer).toMatchObject(answered)
    expect(ports.waits).toEqual([fault.startsWith('rate-limit') ? 1_234 : 500])
    const retrying = events.findIndex(({ type }) => type === 'retrying')
    expect(events.filter(({ type }) => type === 'retrying').length).toBe(1)
    const after = events.slice(retrying).flatMap((event) => (event.type === 'text' ? event.text : []))
    expect(after.join('')).toBe(text)
    expect([bodies.length, bodies[0] === bodies[1]]).toEqual([2, true])
  })

  test.each(transient)('gives up after three tries of %s', async (fault) => {
    const { fetch, bodies } = wireWith(fault)
    const failed = await make({ fetch, ports: stillPorts() }).send(hello)
    expect([failed, bodies.length]).toMatchObject([{ type: 'failed', reason: 'transient', tries: 3 }, 3])
  })

  test('never sends an overflow twice', async () => {
    const { fetch, bodies } = wireWith(undefined)
    const failed = await make({ fetch, ports: stillPorts() }).send(long)
    expect([failed, bodies.length]).toMatchObject([{ reason: 'overflow', tries: 1 }, 1])
  })

  test('takes an answer whose connection went after its end', async () => {
    const { fetch, bodies } = wireWith('cut-after')
    expect(await make({ fetch, ports: stillPorts() }).send(hello)).toMatchObject(answered)
    expect(bodies.length).toBe(1)
  })

  test.each(['split; longest=3', 'slow; delay-ms=1'])('reads a stream that comes as %s', async (fault) => {
    const { fetch } = wireWith(fault)
    expect(await make({ fetch, ports: stillPorts() }).send(hello)).toMatchObject(answered)
  })

  test('gives up on a stream that has fallen silent', async () => {
    const { fetch, bodies } = wireWith('stall; after-bytes=400', undefined)
    const still = stillPorts()
    // Only the first request is watched with a clock: how fast the second one is has nothing to do with it.
    const wait: ModelPorts['wait'] = (ms, signal) =>
      bodies.length === 1 && ms === 300_000 ? systemPorts.wait(250, signal) : still.wait(ms, signal)
    const events: StreamEvent[] = []
    const onEvent = (event: StreamEvent) => events.push(event)
    expect(await make({ fetch, ports: { ...still, wait } }).send(hello, { onEvent })).toMatchObject(answered)
    expect(events.filter(({ type }) => type === 'retrying')).toMatchObject([{ why: 'nothing came for 300 s' }])
  })

  const stalls = ['stall; after-bytes=400', 'stall; after-bytes=0']
  test.each(stalls)('can be aborted while it waits for more (%s)', async (fault) => {
    const controller = new AbortController()
    const { fetch, bodies } = wireWith(fault)
    const sent: typeof fetch = (input, init) => {
      setTimeout(() => controller.abort(), 50)
      return fetch(input, init)
    }
    const failed = await make({ fetch: sent, ports: stillPorts() }).send(hello, { signal: controller.signal })
    expect([failed, bodies.length]).toMatchObject([{ type: 'failed', reason: 'aborted', tries: 1 }, 1])
  })

  test('can be aborted while it waits to send again', async () => {
    const { fetch, bodies } = wireWith('rate-limit; retry-after-ms=60000')
    const controller = new AbortController()
    const onEvent = ({ type }: StreamEvent) => type === 'retrying' && controller.abort()
    const failed = await make({ fetch }).send(hello, { signal: controller.signal, onEvent })
    expect([failed, bodies.length]).toMatchObject([{ type: 'failed', reason: 'aborted', tries: 1 }, 1])
  })

  test('lets a mistake of its host be a mistake', async () => {
    const onEvent = () => {
      throw new RangeError('mine')
    }
    await expect(make({ ports: stillPorts() }).send(hello, { onEvent })).rejects.toThrow(new RangeError('mine'))
  })
})
