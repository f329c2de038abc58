// A second tenant tries to reach what the first one said: by ids, by its words, through recall, by headers and by paths. Over real
// HTTP, on every level.
import type { IncomingMessage } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, test } from 'vitest'
import { levels } from '../config/schema.ts'
import type { Setup } from '../testing/setup.ts'
import {
  adminKey,
  annsKey,
  annsOldKey,
  ask,
  assistant,
  bobsKey,
  clientWith,
  keys,
  model,
  raw,
  started,
  upstream,
  user,
} from '../testing/started.ts'

const secret = 'The heron nests in the third tower.'

/** Ann has said something in a named conversation and in one that is found by what was said. */
async function withAnn(config: object = {}) {
  const setup = await started({ config: { keys, adminSecrets: [adminKey], ...config } })
  await ask(clientWith(setup.url, annsKey, 'plan'), secret)
  await unnamed(setup.url, annsKey).messages.create({ model, max_tokens: 50, messages: [user(`Again: ${secret}`)] })
  await setup.gateway.settled()
  return { ...setup, anns: await setup.sessions('acme') }
}

function unnamed(url: string, key: string, headers: Readonly<Record<string, string>> = {}): Anthropic {
  return new Anthropic({
    ...{ apiKey: 'bobs', baseURL: url, maxRetries: 0, defaultHeaders: { 'x-everlong-key': key, ...headers } },
  })
}

/** Everything of this tenant, as text. */
const storedOf = async (setup: Setup, tenant: string) => JSON.stringify([...(await setup.sessions(tenant))])

const guesses: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['its id', { 'x-everlong-session': 'plan' }],
  ['its id in capitals', { 'X-EVERLONG-SESSION': 'PLAN' }],
  ['its folder', { 'x-everlong-session': '../acme/plan' }],
  ['its folder, encoded', { 'x-everlong-session': '..%2facme%2fplan' }],
  ['a whole path', { 'x-everlong-session': '/acme/plan.jsonl' }],
  ['the id of a part of it', { 'x-everlong-session': 'plan/subagents/agent-1' }],
  [
    'a sub-agent outside of its folder',
    { 'x-claude-code-session-id': 'plan', 'x-claude-code-agent-id': '../../../acme/plan' },
  ],
  ['the id of a coding agent', { 'x-claude-code-session-id': 'plan' }],
  ['the id of a thread', { 'thread-id': 'plan' }],
  ['the id of an affinity', { 'x-session-affinity': 'plan' }],
  ['its tenant in a header', { 'x-everlong-tenant': 'acme', 'x-everlong-session': 'plan' }],
  ['a key of the configuration', { 'x-everlong-session': '__proto__' }],
]

describe.each(levels)('on level %s', (level) => {
  test.each(guesses)('a guessed name leads to a session of the one who guesses: %s', async (_, headers) => {
    const setup = await withAnn({ level })
    const bob = unnamed(setup.url, bobsKey, headers)
    const answer = await bob.messages.create({ model, max_tokens: 50, messages: [user('What was said?')] })
    expect(JSON.stringify(answer)).not.toContain('heron')
    expect(await setup.sessions('acme')).toEqual(setup.anns)
    const stored = await storedOf(setup, 'rivals')
    expect(stored).toContain('What was said?')
    expect(stored).not.toContain('heron')
  })

  test('her conversation as a prefix leads to a new session, with the words that were sent and no others', async () => {
    const setup = await withAnn({ level })
    const [annsId] = [...setup.anns].find(([id]) => id !== 'plan')!
    const messages = [user(`Again: ${secret}`), assistant('Answer 2.'), user('And then?')]
    await unnamed(setup.url, bobsKey).messages.create({ model, max_tokens: 50, messages })
    expect(await setup.sessions('acme')).toEqual(setup.anns)
    const bobs = await setup.sessions('rivals')
    expect([bobs.size, bobs.has(annsId)]).toEqual([1, false])
    expect(JSON.stringify([...bobs])).not.toContain(annsId)
    // Ann continues her own, although Bob said the same.
    await unnamed(setup.url, annsKey).messages.create({ model, max_tokens: 50, messages })
    expect([...(await setup.sessions('acme')).keys()].toSorted()).toEqual([...setup.anns.keys()].toSorted())
  })
})

describe('recall', () => {
  async function call(url: string, key: string, name: string, args: Record<string, unknown>): Promise<string> {
    const client = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { 'x-everlong-key': key } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }) as never)
    const answer = await client.callTool({ name, arguments: args })
    await client.close()
    return JSON.stringify(answer.content)
  }
  const attempts = (ids: readonly string[]): readonly (readonly [string, Record<string, unknown>])[] => [
    ['search', { query: 'heron tower' }],
    ['search', { query: 'heron', session: 'plan' }],
    ['search', { query: 'heron', session: '../acme/plan' }],
    ['search', { query: 'heron', folder: '../acme' }],
    ...ids.map((id) => ['read', { id }] as const),
    ['read', { id: '../acme/plan' }],
    ['read', { id: 'plan' }],
    ['read', { id: ids[0], session: '../acme/plan' }],
    ['read', { id: '/etc/passwd' }],
  ]

  test('finds nothing of hers with the key of another, not even by the ids of her records', async () => {
    const setup = await withAnn()
    await ask(clientWith(setup.url, bobsKey, 'plan'), 'Mine.')
    await setup.gateway.settled()
    const ids = setup.anns.get('plan')!.map(({ uuid }) => String(uuid))
    expect(await call(setup.url, annsKey, 'search', { query: 'heron tower' })).toContain('third tower')
    expect(await call(setup.url, annsKey, 'read', { id: ids[0] })).toContain('third tower')
    for (const [name, args] of attempts(ids)) {
      const told = await call(setup.url, bobsKey, name, args)
      expect(told, `${name} ${JSON.stringify(args)}`).not.toMatch(/third tower|root:/)
    }
  })

  test.each([
    ['none', {}],
    ['an unknown one', { 'x-everlong-key': 'z'.repeat(32) }],
    ['two at once', { 'x-everlong-key': `${bobsKey}, ${annsKey}` }],
    ['one of an administrator', { 'x-everlong-key': adminKey }],
    ['hers as a bearer token', { authorization: `Bearer ${annsKey}` }],
  ])('is closed to a key that is not one: %s', async (_, headers) => {
    const { url } = await withAnn()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const accept = 'application/json, text/event-stream'
    const told = await fetch(`${url}/mcp`, {
      ...{
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', accept, ...(headers as Record<string, string>) },
      },
    })
    expect(told.status).toBe(401)
  })
})

const bobs = ['host', 'x', 'x-api-key', 'bobs', 'x-everlong-key', bobsKey]

const headerGames: readonly (readonly [
  string,
  readonly string[],
  number,
  (request: IncomingMessage) => unknown,
  unknown,
])[] = [
  ['her key and his', [...bobs, 'x-everlong-key', annsKey], 401, () => 0, undefined],
  ['his key twice', [...bobs, 'x-everlong-key', bobsKey], 401, () => 0, undefined],
  [
    'a key in mixed case',
    ['host', 'x', 'x-api-key', 'k', 'X-EverLong-Key', bobsKey],
    200,
    ({ headers }) => headers['x-everlong-key'],
    undefined,
  ],
  ['a key with an underscore', ['host', 'x', 'x-api-key', 'k', 'x_everlong_key', bobsKey], 401, () => 0, undefined],
  [
    'our own headers',
    [...bobs, 'X-EVERLONG-Anything', '1', 'x-everlong-session', 's'],
    200,
    ({ rawHeaders }) => rawHeaders.filter((one) => /everlong/i.test(one)),
    [],
  ],
  [
    'another host',
    [...bobs, 'x-forwarded-host', 'evil.test', 'forwarded', 'host=evil.test'],
    200,
    ({ headers }) => headers.host?.startsWith('127.0.0.1:'),
    true,
  ],
  [
    'an address of a trusted network',
    [...bobs.slice(0, 4), 'x-forwarded-for', '127.0.0.1', 'x-real-ip', '127.0.0.1'],
    401,
    () => 0,
    undefined,
  ],
  [
    'another path',
    [...bobs, 'x-original-url', '/metrics', 'x-rewrite-url', '/metrics'],
    200,
    ({ url }) => url,
    '/v1/messages',
  ],
  ['another method', [...bobs, 'x-http-method-override', 'DELETE'], 200, ({ method }) => method, 'POST'],
  ['a credential for the connection only', [...bobs, 'connection', 'x-api-key'], 401, () => 0, undefined],
  [
    'a credential for the connection only, in a list',
    [...bobs, 'connection', 'close, X-API-KEY'],
    401,
    () => 0,
    undefined,
  ],
  [
    'a length for the connection only',
    [...bobs, 'connection', 'content-length', 'content-length', '2'],
    200,
    ({ headers }) => headers['content-length'],
    '2',
  ],
  [
    'an empty credential',
    ['host', 'x', 'x-everlong-key', bobsKey, 'authorization', 'Bearer   '],
    401,
    () => 0,
    undefined,
  ],
  ['the key of the gateway as a credential', ['host', 'x', 'x-everlong-key', bobsKey], 401, () => 0, undefined],
  ['an expectation', [...bobs, 'expect', '200-ok'], 417, () => 0, undefined],
  [
    'a range of methods',
    [...bobs, 'access-control-request-method', 'POST', 'origin', 'https://evil.test'],
    200,
    () => 1,
    1,
  ],
]

test.each(headerGames)('headers: %s', async (_, headers, ...[status, look, seen]) => {
  const { got, url } = await upstream(() => ({ body: '{}' }))
  const gateway = await started({ config: { keys, upstreams: { simulator: { url } } } })
  const told = await raw(`${gateway.url}/v1/messages`, { headers, body: '{}' })
  expect(told.status).toBe(status)
  expect(got.map(({ request }) => look(request))).toEqual(status === 200 ? [seen] : [])
})

const paths: readonly (readonly [string, number, string | undefined])[] = [
  ['/v1/../v1/messages', 400, undefined],
  ['/v1/%2e%2e/messages', 400, undefined],
  ['/v1/.%2E/messages', 400, undefined],
  ['/v1/./messages', 400, undefined],
  ['/v1%2fmessages', 400, undefined],
  ['/v1%5cmessages', 400, undefined],
  ['/v1/messages%00', 400, undefined],
  ['//evil.test/v1/messages', 400, undefined],
  ['///evil.test/v1/messages', 400, undefined],
  ['http://evil.test/v1/messages', 400, undefined],
  ['HTTP://evil.test/v1/messages', 400, undefined],
  ['*', 400, undefined],
  ['evil.test:443', 400, undefined],
  ['/simulator//evil.test/v1/messages', 400, undefined],
  ['/simulator', 400, undefined],
  ['/simulator/../other/v1/messages', 400, undefined],
  ['/v1/messages;x=/../', 400, undefined],
  ['/v1/messages?next=http://evil.test', 200, '/base/v1/messages?next=http://evil.test'],
  ['/v1/messages?a=b?c=../..', 200, '/base/v1/messages?a=b?c=../..'],
  ['/http://evil.test/v1/messages', 400, undefined],
  ['/@evil.test/v1/messages', 200, '/base/@evil.test/v1/messages'],
  ['/SIMULATOR/v1/messages', 200, '/base/SIMULATOR/v1/messages'],
  ['/__proto__/v1/messages', 200, '/base/__proto__/v1/messages'],
  ['/constructor/v1/messages', 200, '/base/constructor/v1/messages'],
  ['/v1/%252e%252e/messages', 200, '/base/v1/%252e%252e/messages'],
]

test.each(paths)('paths: %s', async (path, status, arrived) => {
  const { got, url } = await upstream(() => ({ body: '{}' }))
  const other = await upstream(() => ({ body: 'wrong place' }))
  const upstreams = { simulator: { url: `${url}/base` }, other: { url: other.url } }
  const gateway = await started({ config: { keys, upstreams } })
  const told = await raw(gateway.url, { headers: bobs, path, body: '{}' })
  expect([told.status, got.map(({ request }) => request.url), other.got]).toEqual([
    status,
    arrived === undefined ? [] : [arrived],
    [],
  ])
})

test.each([
  ['/everlong/report?tenant=acme', bobsKey, 200],
  ['/everlong/report?since=-1&tenant=acme', bobsKey, 200],
  ['/everlong/report?since=x', bobsKey, 400],
  ['/everlong/report', 'z'.repeat(32), 401],
  ['/metrics', bobsKey, 401],
  ['/metrics/', bobsKey, 404],
  ['//metrics', bobsKey, 400],
  ['/METRICS', bobsKey, 404],
  ['/v1/../metrics', bobsKey, 401],
])('nothing of hers is in %s', async (path, key, status) => {
  const api = await upstream(({ method }) => ({ status: method === 'GET' ? 404 : 200, body: '{}' }))
  const { url } = await withAnn({ upstreams: { simulator: { url: api.url } } })
  const told = await raw(url, { method: 'GET', path, headers: ['host', 'x', 'x-api-key', 'k', 'x-everlong-key', key] })
  expect(told.status).toBe(status)
  expect(told.body.toString()).not.toMatch(/acme|ann|plan|heron/)
})

test('logs and metrics have no word, id of a client or secret of anybody, whatever goes wrong', async () => {
  const setup = await withAnn({ level: 'manage' })
  const headers = { 'content-type': 'application/json', 'x-api-key': 'sk-bobs-credential', 'x-everlong-key': bobsKey }
  const bodies = [
    '{"heron',
    '{"model":"heron-1","messages":[{"role":"user","content":"heron"}]}',
    '"heron"',
    'heron\n{}',
  ]
  for (const body of bodies) await fetch(`${setup.url}/v1/messages?heron=1`, { method: 'POST', headers, body })
  await fetch(`${setup.url}/heron/heron`, { headers: { ...headers, 'user-agent': 'heron', cookie: 'heron' } })
  await fetch(`${setup.url}/v1/messages`, { method: 'POST', headers: { 'x-everlong-key': 'heron' }, body: 'heron' })
  await setup.gateway.settled()
  const metrics = await (await fetch(`${setup.url}/metrics`, { headers: { 'x-everlong-key': adminKey } })).text()
  const told = `${JSON.stringify(setup.lines)}\n${metrics}`
  expect(setup.lines.length).toBeGreaterThan(6)
  expect(told).not.toMatch(/heron|credential|tower/)
  for (const key of [annsKey, annsOldKey, bobsKey, adminKey]) expect(told).not.toContain(key)
})

test('a key that is nearly right is refused as fast as one that is not', async () => {
  const { url } = await started({ config: { keys } })
  const time = async (key: string) => {
    const start = performance.now()
    await raw(`${url}/v1/messages`, { headers: ['host', 'x', 'x-api-key', 'k', 'x-everlong-key', key] })
    return performance.now() - start
  }
  const [near, far]: [number[], number[]] = [[], []]
  for (let at = 0; at < 200; at++) {
    near.push(await time(`${annsKey.slice(0, 31)}z`))
    far.push(await time('z'.repeat(32)))
  }
  const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[times.length / 2]!
  expect(median(near) / median(far)).toBeGreaterThan(0.5)
  expect(median(near) / median(far)).toBeLessThan(2)
})
