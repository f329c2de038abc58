// A second tenant tries to use up what all tenants share: connections, memory, the processor. Slow heads and bodies, readers that
// stop reading, bodies that are too large, small ones that unpack to large ones, and shapes that are expensive to read.
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Level, levels } from '../config/schema.ts'
import type { Setup } from '../testing/setup.ts'
import {
  annsKey,
  ask,
  bobsKey,
  clientWith,
  keys,
  listening,
  model,
  raw,
  started,
  upstream,
} from '../testing/started.ts'
import { exchangeBytes, openWire, statusesIn } from './wire.ts'

const own = `Host: g\r\nX-Api-Key: k\r\nAnthropic-Version: 2023-06-01\r\nX-Everlong-Key: ${bobsKey}\r\n`
const kb = 1 << 10

/** Ann is answered, whatever Bob does. */
async function annIsServed({ url }: Setup): Promise<void> {
  expect(await ask(clientWith(url, annsKey), 'Hello.')).toMatchObject({ role: 'assistant' })
}

describe('slow clients', () => {
  const limits = { requestMs: 400, idleMs: 400, firstByteMs: 400 }

  test.each([
    ['a head that never ends', `POST /v1/messages HTTP/1.1\r\n${own}`, 'X-More: 1\r\n'],
    ['a head without a line end', `POST /v1/messages HTTP/1.1\r\n${own}X-Long: `, 'x'],
    ['a body that never ends', `POST /v1/messages HTTP/1.1\r\n${own}Content-Length: 1000\r\n\r\n`, ' '],
    ['chunks that never end', `POST /v1/messages HTTP/1.1\r\n${own}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
    ['a body for a refused request', `POST /v1/messages HTTP/1.1\r\nHost: g\r\nContent-Length: 1000\r\n\r\n`, ' '],
  ])('%s: the connection is closed at the limit, and others are served meanwhile', async (_, head, drop) => {
    const setup = await started({ config: { keys, limits } })
    const { socket, received } = openWire(setup.url)
    socket.write(head)
    const dripping = setInterval(() => socket.write(drop), 50)
    await annIsServed(setup)
    const told = await received
    clearInterval(dripping)
    expect(statusesIn(told).every((status) => status >= 400)).toBe(true)
    expect(setup.server.simulator.meter.totals().requests).toBe(1)
  })

  test.each(levels)(
    'a reader that stops reading is let go, and so is its request at the upstream: %s',
    async (level) => {
      const closed = Promise.withResolvers<void>()
      const event = `event: ping\ndata: ${JSON.stringify({ type: 'ping', filler: 'x'.repeat(16 * kb) })}\n\n`
      const { url } = await listening(
        createServer((incoming, outgoing) => {
          incoming.resume()
          outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
          const fill = () => {
            while (!outgoing.destroyed && outgoing.write(event));
          }
          outgoing.on('drain', fill)
          outgoing.on('close', () => closed.resolve())
          fill()
        }),
      )
      const setup = await started({ config: { keys, level, limits, upstreams: { simulator: { url } } } })
      const body = requestBody([{ role: 'user', content: 'Hello.' }])
      const { socket, received } = openWire(setup.url)
      socket.pause()
      socket.write(`POST /v1/messages HTTP/1.1\r\n${own}Content-Length: ${body.length}\r\n\r\n${body}`)
      await closed.promise
      // Its connection is closed too, which it notices when it reads again.
      socket.resume()
      socket.once('end', () => socket.destroy())
      await received
      await expect
        .poll(() => setup.lines.filter(({ event }) => event === 'request'))
        .toMatchObject([{ end: 'aborted', whole: false }])
    },
  )

  test.each(levels)(
    'a reader that pauses again and again gets every byte, and leaves no listeners: %s',
    async (level) => {
      const warnings: string[] = []
      const warn = ({ message }: Error) => warnings.push(message)
      process.on('warning', warn)
      const whole = `event: ping\ndata: ${'x'.repeat(512 * kb)}\n\n`.repeat(40)
      const { url } = await listening(
        createServer((incoming, outgoing) => {
          incoming.resume()
          outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': whole.length })
          outgoing.end(whole)
        }),
      )
      const setup = await started({ config: { keys, level, upstreams: { simulator: { url } } } })
      const headers = { 'content-type': 'application/json', 'x-api-key': 'k', 'x-everlong-key': bobsKey }
      const body = requestBody([{ role: 'user', content: 'Hello.' }])
      const answer = await fetch(`${setup.url}/v1/messages`, { method: 'POST', headers, body })
      let length = 0
      for await (const chunk of answer.body ?? []) {
        length += chunk.length
        await new Promise((resolve) => setImmediate(resolve))
      }
      process.off('warning', warn)
      expect([length, warnings]).toEqual([whole.length, []])
    },
  )

  test.each(levels)('an upstream that says nothing is given up: %s', async (level) => {
    const { url } = await listening(createServer((incoming) => incoming.resume()))
    const setup = await started({ config: { keys, level, limits, upstreams: { simulator: { url } } } })
    const told = await raw(`${setup.url}/v1/messages`, {
      headers: ['host', 'g', 'x-api-key', 'k', 'x-everlong-key', bobsKey],
      body: requestBody([{ role: 'user', content: 'Hello.' }]),
    })
    expect([told.status, JSON.parse(told.body.toString()).error.type]).toEqual([504, 'timeout_error'])
  })
})

function requestBody(messages: readonly object[], more: object = {}): string {
  return JSON.stringify({ model, max_tokens: 9, messages, ...more })
}

describe.each(levels)('bodies that are too large, on level %s', (level) => {
  const limits = { maxBodyBytes: 64 * kb }
  const config = { keys, level, limits }
  const refused = { type: 'error', error: { type: 'request_too_large' } }

  test('exactly at the limit it passes', async () => {
    const { got, url } = await upstream(() => ({ body: '{}' }))
    const setup = await started({ config: { ...config, upstreams: { simulator: { url } } } })
    const headers = ['host', 'g', 'x-api-key', 'k', 'x-everlong-key', bobsKey, 'transfer-encoding', 'chunked']
    const told = await raw(`${setup.url}/v1/messages`, { headers, body: ' '.repeat(64 * kb) })
    expect([told.status, got.map(({ body }) => body.length)]).toEqual([200, [64 * kb]])
  })

  test.each([
    ['by the length that is announced', `Content-Length: ${64 * kb + 1}\r\n\r\n`],
    ['by an announced length that never comes', 'Content-Length: 99999999999\r\n\r\n'],
    ['by its chunks', `Transfer-Encoding: chunked\r\n\r\n${`4000\r\n${' '.repeat(0x4000)}\r\n`.repeat(5)}0\r\n\r\n`],
  ])('it is refused with an answer: %s', async (_, rest) => {
    const setup = await started({ config })
    const told = await exchangeBytes(setup.url, `POST /v1/messages HTTP/1.1\r\n${own}Connection: close\r\n${rest}`)
    expect(statusesIn(told)).toEqual([413])
    expect(JSON.parse(told.slice(told.indexOf('{')))).toMatchObject(refused)
    expect(setup.server.simulator.meter.totals().requests).toBe(0)
    await annIsServed(setup)
  })

  test('a small body that unpacks to a large one passes as it came, and is not unpacked', async () => {
    const { got, url } = await upstream(() => ({ body: '{}' }))
    const setup = await started({ config: { ...config, upstreams: { simulator: { url } } } })
    const bomb = gzipSync(requestBody([{ role: 'user', content: 'x'.repeat(4 << 20) }]))
    const headers = ['host', 'g', 'x-api-key', 'k', 'x-everlong-key', bobsKey, 'content-encoding', 'gzip']
    const told = await raw(`${setup.url}/v1/messages`, { headers, body: bomb })
    expect([told.status, got[0]?.body.equals(bomb)]).toEqual([200, true])
    expect(await setup.sessions('rivals')).toEqual(new Map())
  })
})

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const nested = (depth: number) =>
  `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"x","x":${deep(depth)}}]}]}`
const many = (count: number) => requestBody(Array.from({ length: count }, () => ({ role: 'user', content: 'a' })))

const expensive: readonly (readonly [string, () => string])[] = [
  ['100,000 nested lists', () => nested(100_000)],
  ['100,001 messages', () => many(100_001)],
  [
    'a message of 100,000 blocks',
    () =>
      requestBody([{ role: 'user', content: Array.from({ length: 100_000 }, () => ({ type: 'text', text: 'a' })) }]),
  ],
  [
    '10,000 tools',
    () =>
      requestBody([{ role: 'user', content: 'a' }], {
        tools: Array.from({ length: 10_000 }, (_, at) => ({ name: `t${at}` })),
      }),
  ],
  ['one text of 8 MB', () => requestBody([{ role: 'user', content: '</system-reminder>'.repeat(450_000) }])],
  ['no JSON at all', () => '{"messages":['.repeat(10_000)],
  ['a role nobody has heard of', () => requestBody([{ role: 'wizard', content: 'a' }])],
  ['a content that is a number', () => requestBody([{ role: 'user', content: 1 }])],
  [
    'keys of prototypes',
    () =>
      `{"__proto__":{"x":1},"constructor":1,"model":"${model}","messages":[{"role":"user","content":"a","__proto__":[]}]}`,
  ],
]

describe.each(levels)('expensive shapes, on level %s', (level: Level) => {
  test.each(expensive)('pass as they came, and others are served: %s', async (_, body) => {
    const { got, url } = await upstream(() => ({
      headers: ['content-type', 'application/json'],
      body: '{"type":"message","role":"assistant"}',
    }))
    const setup = await started({ config: { keys, level, upstreams: { simulator: { url } } } })
    const text = body()
    const headers = ['host', 'g', 'x-api-key', 'k', 'x-everlong-key', bobsKey]
    const [told] = await Promise.all([raw(`${setup.url}/v1/messages`, { headers, body: text }), annIsServed(setup)])
    expect(told.status).toBe(200)
    expect(got.some((one) => one.body.equals(Buffer.from(text)))).toBe(true)
    await setup.gateway.settled()
    await annIsServed(setup)
  })
})
