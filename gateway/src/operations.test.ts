// Keys, limits, health and stopping, over real sockets.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonlSessions } from 'everlong/node'
import { describe, expect, test } from 'vitest'
import { levels } from './config/schema.ts'
import { alwaysThere } from './state/health.ts'
import { sessionsIn, setUp, spoken } from './testing/setup.ts'
import {
  adminKey,
  annsKey,
  annsOldKey,
  ask,
  bobsKey,
  clientWith,
  keys,
  listening,
  model,
  started,
  upstream,
  user,
} from './testing/started.ts'

const retryAfter = (error: unknown) => (error as { readonly headers: Headers }).headers.get('retry-after')

describe('keys', () => {
  test('lead to the sessions of their tenant; an old one does until it is removed', async () => {
    const { url, sessions } = await started({ config: { keys } })
    await ask(clientWith(url, annsKey), 'I am Ann.')
    await ask(clientWith(url, bobsKey), 'I am Bob.')
    await ask(clientWith(url, annsOldKey, 'other'), 'Ann again.')
    expect([...(await sessions('acme'))].map(([id, records]) => [id, spoken(records)[0]])).toEqual([
      ['chat', 'user: I am Ann.'],
      ['other', 'user: Ann again.'],
    ])
    expect([...(await sessions('rivals'))].map(([id, records]) => [id, spoken(records)[0]])).toEqual([
      ['chat', 'user: I am Bob.'],
    ])
  })

  test.each([undefined, 'a', 'A'.repeat(32), `${annsKey} `.repeat(2)])(
    'without a right one nothing passes: %s',
    async (key) => {
      const { url, server } = await started({ config: { keys } })
      await expect(ask(clientWith(url, key), 'Hello.')).rejects.toMatchObject({ status: 401 })
      expect(server.simulator.meter.totals().requests).toBe(0)
    },
  )

  test('do not show the report of others, or the metrics', async () => {
    const setup = await started({ config: { keys, adminSecrets: [adminKey] } })
    const { url, gateway } = setup
    await ask(clientWith(url, annsKey), 'Hello.')
    await gateway.settled()
    const get = async (path: string, key: string) => {
      const response = await fetch(`${url}${path}`, { headers: { 'x-everlong-key': key } })
      return response.ok ? ((await response.text()).match(/acme/g) ?? []).length : response.status
    }
    expect(await get('/everlong/report', annsKey)).toBe(1)
    expect(await get('/everlong/report', bobsKey)).toBe(0)
    expect(await get('/everlong/report', adminKey)).toBe(1)
    expect(await get('/everlong/report', 'wrong')).toBe(401)
    expect([await get('/metrics', annsKey), await get('/metrics', 'wrong')]).toEqual([401, 401])
    expect(await get('/metrics', adminKey)).toBeGreaterThan(1)
    const bearer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${adminKey}` } })
    expect(bearer.status).toBe(200)
  })
})

test('where there are keys and no secret of an administrator, nobody is one', async () => {
  const { url, gateway } = await started({ config: { keys } })
  await ask(clientWith(url, annsKey), 'Hello.')
  await gateway.settled()
  const get = (path: string) => fetch(`${url}${path}`, { headers: { 'x-everlong-key': bobsKey } })
  expect((await get('/metrics')).status).toBe(401)
  expect(await (await get('/everlong/report')).json()).toMatchObject({ requests: 0, tenants: [] })
})

describe('limits', () => {
  const limited = (limits: object) => ({ config: { keys: [{ ...keys[0], limits }, keys[1]] } })

  test('of requests: exactly as many as allowed, for this key only, until a minute has passed', async () => {
    let now = 0
    const { url } = await started({ ...limited({ requestsPerMinute: 2 }), ports: { now: () => now } })
    const ann = clientWith(url, annsKey)
    await ask(ann, 'one')
    now = 10_000
    await ask(ann, 'two')
    await expect(ask(ann, 'three')).rejects.toMatchObject({
      status: 429,
      error: { error: { type: 'rate_limit_error' } },
    })
    await expect(ask(ann, 'three')).rejects.toSatisfy((error) => retryAfter(error) === '50')
    await ask(clientWith(url, bobsKey), 'free')
    now = 60_000
    await ask(ann, 'three')
    await expect(ask(ann, 'four')).rejects.toMatchObject({ status: 429 })
  })

  test('of tokens: the request after the one that reached it waits', async () => {
    let now = 0
    const { url, gateway } = await started({ ...limited({ tokensPerMinute: 10 }), ports: { now: () => now } })
    const ann = clientWith(url, annsKey)
    await ask(ann, 'one two three four five six seven')
    await gateway.settled()
    await expect(ask(ann, 'more')).rejects.toMatchObject({ status: 429 })
    now = 60_000
    await ask(ann, 'more')
  })

  test('of requests at the same time', async () => {
    const { url } = await started({
      ...limited({ concurrent: 1 }),
      simulator: { latency: { first: 300, perEvent: 0 } as never },
    })
    const ann = clientWith(url, annsKey)
    const results = await Promise.allSettled([ask(ann, 'one'), ask(ann, 'two')])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await ask(ann, 'three')
  })

  test('of bytes, by the length that is told and by the length that comes', async () => {
    const { url, server } = await started({ config: { limits: { maxBodyBytes: 1_000 } } })
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
    const told = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: 'x'.repeat(1_001) })
    expect([told.status, ((await told.json()) as { error: { type: string } }).error.type]).toEqual([
      413,
      'request_too_large',
    ])
    const stream = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < 20; at++) controller.enqueue(new TextEncoder().encode('x'.repeat(100)))
        controller.close()
      },
    })
    const came = await fetch(`${url}/v1/messages`, {
      ...{ method: 'POST', headers, body: stream, duplex: 'half' as const },
    } as RequestInit)
    expect(came.status).toBe(413)
    expect(server.simulator.meter.totals().requests).toBe(0)
  })
})

describe('a stop', () => {
  test('lets a running answer come to its end, refuses new requests, and writes what was said', async () => {
    const setup = await setUp({ simulator: { latency: { first: 0, perEvent: 40 } as never } })
    const client = clientWith(setup.url, undefined)
    const stream = client.messages.stream({ model, max_tokens: 50, messages: [{ role: 'user', content: 'Hello.' }] })
    await new Promise((resolve) => stream.once('connect', () => resolve(undefined)))
    const closing = setup.gateway.close()
    await expect(ask(client, 'late')).rejects.toThrow()
    expect((await stream.finalMessage()).content).toMatchObject([{ text: 'Answer 1.' }])
    await closing
    expect(spoken((await setup.sessions()).get('chat'))).toEqual(['user: Hello.', 'assistant: Answer 1.'])
    await setup.close()
  })

  test.each(levels)(
    'ends streams that are longer than its limit, at the client and at the upstream: %s',
    async (level) => {
      const closed = Promise.withResolvers<void>()
      const { url } = await listening(
        createServer((incoming, outgoing) => {
          incoming.resume()
          outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
          const timer = setInterval(() => outgoing.write('event: ping\ndata: {"type":"ping"}\n\n'), 20)
          outgoing.on('close', () => {
            clearInterval(timer)
            closed.resolve()
          })
        }),
      )
      const { gateway } = await started({
        config: { level, limits: { stopMs: 200 }, upstreams: { simulator: { url } } },
      })
      const body = JSON.stringify({ model, max_tokens: 9, stream: true, messages: [user('Hello.')] })
      const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
      const response = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })
      const reader = response.body?.getReader()
      await reader?.read()
      const start = performance.now()
      const closing = gateway.close()
      const ended = (async () => {
        while (!(await reader?.read())?.done);
      })()
      await expect(ended).rejects.toThrow()
      await closed.promise
      await closing
      // Not at once, and not only when the answer would have ended, which is never. Timers may fire a millisecond early.
      expect(performance.now() - start).toBeGreaterThanOrEqual(199)
    },
  )

  test('keeps what has arrived of an answer that it cuts off at its limit', async () => {
    const { url } = await listening(
      createServer((incoming, outgoing) => {
        incoming.resume()
        outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000000' })
        outgoing.write('{')
      }),
    )
    const { gateway, lines, sessions } = await started({
      config: { limits: { stopMs: 100 }, upstreams: { simulator: { url } } },
    })
    const body = JSON.stringify({ model, max_tokens: 9, messages: [user('Hello.')] })
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'x-everlong-session': 'chat' }
    const response = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })
    const read = response.text()
    const closing = gateway.close()
    await expect(read).rejects.toThrow()
    await closing
    expect(lines.filter(({ event }) => event === 'request')).toMatchObject([{ end: 'aborted', whole: false }])
    expect(spoken((await sessions()).get('chat'))).toEqual(['user: Hello.'])
  })

  test('waits for a store that is slow, and for exchanges that wait after others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everlong-slow-'))
    const store = jsonlSessions({ folder })
    const open: typeof store.open = async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return store.open(...given)
    }
    const setup = await setUp({ ports: { storeOf: () => ({ ...store, open }) } })
    for (const session of ['one', 'two', 'three']) await ask(clientWith(setup.url, undefined, session), 'Hello.')
    await setup.gateway.close()
    const said = [...(await sessionsIn(folder))].map(([id, records]) => [id, spoken(records)])
    expect(said).toEqual([
      ['one', ['user: Hello.', 'assistant: Answer 1.']],
      ['three', ['user: Hello.', 'assistant: Answer 3.']],
      ['two', ['user: Hello.', 'assistant: Answer 2.']],
    ])
    await setup.close()
    rmSync(folder, { recursive: true, force: true })
  })
})

test.each([
  ['pass', 200, { status: 'ready', store: 'away' }],
  ['refuse', 503, { status: 'refusing', store: 'away' }],
] as const)(
  'health and readiness need no key, and say what happens without the store: %s',
  async (choice, status, body) => {
    let problem: string | undefined
    const health = { ...alwaysThere, problem: () => problem }
    const { url, server } = await started({ config: { keys, whenStoreIsAway: choice }, ports: { health } })
    const get = async (path: string) => {
      const response = await fetch(`${url}${path}`)
      return [response.status, await response.json()]
    }
    expect(await get('/healthz')).toEqual([200, { status: 'ok' }])
    expect(await get('/readyz')).toEqual([200, { status: 'ready' }])
    problem = 'the database at db.example.com cannot be reached'
    expect(await get('/readyz')).toEqual([status, body])
    expect(await get('/healthz')).toEqual([200, { status: 'ok' }])
    const asked = ask(clientWith(url, annsKey), 'Hello.')
    if (choice === 'refuse') await expect(asked).rejects.toMatchObject({ status: 503 })
    else await asked
    expect(server.simulator.meter.totals().requests).toBe(choice === 'refuse' ? 0 : 1)
    problem = undefined
    expect((await fetch(`${url}/api/hello`, { method: 'HEAD' })).status).toBe(200)
  },
)

test('the log says of every answered request that is not stored why not', async () => {
  const { url } = await upstream(() => ({ body: 'x'.repeat(51) }))
  const config = { limits: { maxStoredAnswerBytes: 50 }, upstreams: { simulator: { url } } }
  const { gateway, sessions, lines } = await started({ config })
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'x-everlong-session': 'chat' }
  const send = (more: object) => {
    const body = JSON.stringify({ model, max_tokens: 9, messages: [user('Hello.')], ...more })
    return fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body }).then((response) => response.text())
  }
  await send({})
  await send({ thread: { type: 'continue', previous_message_id: 'msg_1' } })
  await gateway.settled()
  expect(lines.filter(({ event }) => event === 'not-recorded').map(({ level, why }) => [level, why])).toEqual([
    ['warn', 'The answer is larger than limits.maxStoredAnswerBytes. Only its request is stored.'],
    ['warn', 'The request has a shape or an encoding that is not known.'],
  ])
  expect([...(await sessions())].map(([id, records]) => [id, spoken(records)])).toEqual([['chat', ['user: Hello.']]])
})
