// Level 1 over real sockets: what passes is what came, and every conversation is a transcript.
import { createServer, request } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { countingScript, spoken } from './testing/setup.ts'
import { assistant, listening, model, type RawAnswer, raw, started, upstream, user } from './testing/started.ts'

describe('what passes', () => {
  test('a request arrives byte for byte, with every header but those of the connection and ours', async () => {
    const { got, url } = await upstream(() => ({ body: '{}' }))
    const gateway = await started({ config: { upstreams: { simulator: { url: `${url}/base` } } } })
    const body = '{ "model":"m" , "temperature": 1.0, "messages":[{"role":"user","content":"\\u00e9 \u{1F600}"}]}'
    const headers = [
      ...['Host', 'wherever', 'X-Api-Key', 'secret', 'Anthropic-Beta', 'a-1,b-2', 'anthropic-beta', 'c-3'],
      ...['Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'TE', 'trailers', 'X-Everlong-Session', 'mine'],
      ...['X-Unknown', 'kept', 'Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body))],
    ]
    await raw(`${gateway.url}/v1/messages?beta=true&x=%20y`, { headers, body })
    const [arrived] = got
    expect(arrived?.body.toString()).toBe(body)
    expect(arrived?.request.url).toBe('/base/v1/messages?beta=true&x=%20y')
    expect(arrived?.request.rawHeaders).toEqual([
      ...['host', new URL(url).host, 'X-Api-Key', 'secret', 'Anthropic-Beta', 'a-1,b-2', 'anthropic-beta', 'c-3'],
      ...['X-Unknown', 'kept', 'Content-Type', 'application/json', 'content-length', String(Buffer.byteLength(body))],
    ])
  })

  test('a request without a length arrives whole', async () => {
    const { got, url } = await upstream(() => ({ body: '{}' }))
    const gateway = await started({ config: { upstreams: { simulator: { url } } } })
    await raw(`${gateway.url}/v1/messages`, {
      headers: ['host', 'x', 'x-api-key', 'k', 'transfer-encoding', 'chunked'],
      body: '{"a":1}',
    })
    expect(got[0]?.body.toString()).toBe('{"a":1}')
  })

  test.each([200, 400, 429, 529])(
    'an answer with status %i comes back byte for byte, whatever its encoding',
    async (status) => {
      const body = Buffer.from([0x7b, 0x0a, 0x20, 0x7d, 0xff, 0x00])
      const headers = [
        'content-encoding',
        'x-unheard',
        'Request-Id',
        'req_1',
        'retry-after',
        '3',
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
      ]
      const { url } = await upstream(() => ({ status, body, headers }))
      const gateway = await started({ config: { upstreams: { simulator: { url } } } })
      const told = await raw(`${gateway.url}/v1/messages`, { headers: ['host', 'x', 'x-api-key', 'k'], body: '{}' })
      expect([told.status, told.body]).toEqual([status, body])
      expect(told.head).toEqual(expect.arrayContaining(headers))
      expect(told.head.filter((name) => name === 'Set-Cookie')).toHaveLength(2)
    },
  )

  test('everything else under the route passes too: models, counting, addresses nobody here has heard of', async () => {
    const { url, server } = await started()
    const client = new Anthropic({ apiKey: 'any', baseURL: url })
    const direct = new Anthropic({ apiKey: 'any', baseURL: server.url })
    const count = { model, messages: [user('How many tokens is this?')] }
    expect(await client.messages.countTokens(count)).toEqual(await direct.messages.countTokens(count))
    expect((await client.models.list()).data).toEqual((await direct.models.list()).data)
    const headers = ['host', 'x', 'x-api-key', 'k', 'anthropic-version', '2023-06-01']
    const [here, there] = await Promise.all(
      [url, server.url].map((base) => raw(`${base}/v1/unheard-of/1`, { method: 'DELETE', headers })),
    )
    const bare = (told: RawAnswer | undefined) => [told?.status, told?.body.toString().replace(/req_\w+/, 'req')]
    expect(bare(here)).toEqual(bare(there))
  })

  test('a stream is not held back: its first event arrives while the model is still writing', async () => {
    let finish: (() => void) | undefined
    const server = createServer((_, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write('event: ping\ndata: {"type":"ping"}\n\n')
      finish = () => outgoing.end('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    })
    const { url } = await listening(server)
    const gateway = await started({ config: { upstreams: { simulator: { url } } } })
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k' },
      body: '{}',
    })
    const reader = response.body!.getReader()
    const first = await reader.read()
    expect(Buffer.from(first.value!).toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n')
    finish?.()
    const second = await reader.read()
    expect(Buffer.from(second.value!).toString()).toContain('message_stop')
    expect((await reader.read()).done).toBe(true)
  })

  test('a client that goes away ends the request at the upstream', async () => {
    const closed = Promise.withResolvers<void>()
    const server = createServer((_, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write('event: ping\ndata: {}\n\n')
      outgoing.on('close', () => closed.resolve())
    })
    const { url } = await listening(server)
    const gateway = await started({ config: { upstreams: { simulator: { url } } } })
    const abort = new AbortController()
    const response = await fetch(`${gateway.url}/v1/messages`, {
      ...{ method: 'POST', headers: { 'x-api-key': 'k' }, body: '{}', signal: abort.signal },
    })
    await response.body!.getReader().read()
    abort.abort()
    await closed.promise
    expect(gateway.lines.at(-1)).toMatchObject({ event: 'request', end: 'aborted', whole: false })
  })

  test('an answer that breaks off at the upstream breaks off at the client', async () => {
    const gateway = await started({
      simulator: { faults: { rules: [{ fault: { type: 'cut-during', afterBytes: 200 } }] } },
    })
    const body = JSON.stringify({ model, max_tokens: 50, stream: true, messages: [user('Hello.')] })
    const headers = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01' }
    const response = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('terminated')
    expect([...(await gateway.sessions()).values()].map(spoken)).toEqual([['user: Hello.']])
  })

  test('an upstream that cannot be reached is a 502 in the shape of the API', async () => {
    const gateway = await started({ config: { upstreams: { simulator: { url: 'http://127.0.0.1:1' } } } })
    const client = new Anthropic({ apiKey: 'any', baseURL: gateway.url, maxRetries: 0 })
    await expect(client.messages.create({ model, max_tokens: 5, messages: [user('Hello.')] })).rejects.toMatchObject({
      status: 502,
      error: {
        type: 'error',
        error: { type: 'api_error', message: 'The upstream "simulator" cannot be reached (ECONNREFUSED).' },
      },
    })
  })
})

describe('who may pass', () => {
  test('nobody without a credential of their own', async () => {
    const { url, got } = { ...(await upstream(() => ({ body: '{}' }))) }
    const gateway = await started({ config: { upstreams: { simulator: { url } } } })
    for (const headers of [[], ['authorization', 'Bearer '], ['x-api-key', ' ']]) {
      const told = await raw(`${gateway.url}/v1/messages`, { headers: ['host', 'x', ...headers], body: '{}' })
      expect([told.status, JSON.parse(told.body.toString()).error.type]).toEqual([401, 'authentication_error'])
    }
    expect(got).toEqual([])
  })

  test.each([
    '//evil.test/v1/messages',
    '/v1/../admin',
    '/v1/%2e%2e/admin',
    '/v1\\messages',
    'http://evil.test/v1/messages',
  ])('no path that means another place: %s', async (path) => {
    const { url, got } = await upstream(() => ({ body: '{}' }))
    const gateway = await started({ config: { upstreams: { simulator: { url } } } })
    const { port } = new URL(gateway.url)
    const told = await new Promise<number>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path, method: 'POST', headers: { 'x-api-key': 'k' } },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      sent.on('error', reject)
      sent.end('{}')
    })
    expect([told, got]).toEqual([400, []])
  })
})

describe('the transcript', () => {
  test('has what both said, in order, with the usage that the API reported', async () => {
    const gateway = await started()
    const client = new Anthropic({
      apiKey: 'any',
      baseURL: gateway.url,
      defaultHeaders: { 'x-everlong-session': 'chat-1' },
    })
    const first = await client.messages.create({ model, max_tokens: 50, messages: [user('Hello.')] })
    const messages = [user('Hello.'), assistant('Answer 1.'), user('Go on.')]
    await client.messages.stream({ model, max_tokens: 50, messages }).finalMessage()
    const sessions = await gateway.sessions()
    expect([...sessions.keys()]).toEqual(['chat-1'])
    const records = sessions.get('chat-1') ?? []
    expect(spoken(records)).toEqual(['user: Hello.', 'assistant: Answer 1.', 'user: Go on.', 'assistant: Answer 2.'])
    expect(records.map(({ parentUuid }) => parentUuid)).toEqual([null, ...records.slice(0, 3).map(({ uuid }) => uuid)])
    expect(records[1]).toMatchObject({
      message: {
        id: first.id,
        model,
        stop_reason: 'end_turn',
        usage: { input_tokens: first.usage.input_tokens, output_tokens: first.usage.output_tokens },
      },
      everlong: { gateway: { upstream: 'simulator', api: 'messages', key: 'default' } },
    })
  })

  test('is not told anything by a request that was refused', async () => {
    const gateway = await started()
    const client = new Anthropic({ apiKey: 'any', baseURL: gateway.url, maxRetries: 0 })
    await expect(client.messages.create({ model, max_tokens: 0.5, messages: [user('Hello.')] })).rejects.toMatchObject({
      status: 400,
    })
    expect(await gateway.sessions()).toEqual(new Map())
  })

  test('that cannot be written does not reach the client', async () => {
    const storeOf = () => ({ open: () => Promise.reject(new Error('the disk is full')) }) as never
    const gateway = await started({ ports: { storeOf } })
    const client = new Anthropic({ apiKey: 'any', baseURL: gateway.url })
    expect(await client.messages.create({ model, max_tokens: 50, messages: [user('Hello.')] })).toMatchObject({
      content: [{ text: 'Answer 1.' }],
    })
    await gateway.gateway.settled()
    expect(gateway.lines.filter(({ event }) => event === 'not-recorded')).toEqual([
      expect.objectContaining({ level: 'error', tenant: 'default', why: 'the disk is full' }),
    ])
  })

  test('appears nowhere in the log', async () => {
    const gateway = await started({ script: countingScript() })
    const client = new Anthropic({ apiKey: 'my-secret-key', baseURL: gateway.url })
    await client.messages.create({ model, max_tokens: 50, messages: [user('The password is heron.')] })
    await gateway.gateway.settled()
    expect(JSON.stringify(gateway.lines)).not.toMatch(/heron|Answer|my-secret-key/)
  })
})
