// Two gateways on one PostgreSQL database: any of them serves any request.
import Anthropic from '@anthropic-ai/sdk'
import { text as answerText, type Script, type ScriptRequest, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult } from 'everlong/internal'
import { postgres } from 'everlong/postgres'
import type { SessionStore } from 'everlong/stores'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { cuttable } from './testing/cuttable.ts'
import { recordsIn, type Setup, type SetupOptions, setUp, spoken } from './testing/setup.ts'
import { annsKey, bobsKey, callRecall, keys, model, user } from './testing/started.ts'

const database = await postgresForTests()
afterAll(() => database?.stop())

let schemas = 0
const open: Setup[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** Gateways with the same tables, which are empty at first. */
async function replicas(count: number, options: SetupOptions = {}) {
  const schema = `gateway_${++schemas}`
  const config = { store: { postgres: database?.url ?? '', schema, connections: 4 }, ...options.config }
  const setups = await Promise.all(Array.from({ length: count }, () => setUp({ ...options, config })))
  open.push(...setups)
  const store = postgres({ url: database?.url ?? '', schema })
  return {
    schema,
    setups,
    store,
    /** Who said what, by session, when everything is written. */
    said: async (from: SessionStore = store) => {
      for (const { gateway } of setups) await gateway.settled()
      const sessions = new Map<string, readonly string[]>()
      for (const { id } of await from.list()) sessions.set(id, spoken(await recordsIn(from, id)))
      return sessions
    },
  }
}

type Talking = { readonly urls: readonly string[]; readonly headers?: Readonly<Record<string, string>> }

/** A conversation whose requests take turns between the gateways. */
function talk({ urls, headers = {} }: Talking) {
  const clients = urls.map(
    (baseURL) => new Anthropic({ apiKey: 'any', baseURL, defaultHeaders: headers, maxRetries: 0 }),
  )
  const messages: Anthropic.MessageParam[] = []
  let turn = 0
  return async (text: string): Promise<void> => {
    messages.push(user(text))
    const client = clients[turn++ % clients.length]
    const answer = await client?.messages.create({ model, max_tokens: 50, messages })
    messages.push({ role: 'assistant', content: answer?.content ?? [] })
  }
}

describe.runIf(database)('gateways on one database', () => {
  test.each([
    ['named by its client', { 'x-everlong-session': 'chat' }],
    ['found by what was said', {}],
  ])('keep one conversation as one session: %s', async (_, headers) => {
    const { setups, said } = await replicas(3)
    const say = talk({ urls: setups.map(({ url }) => url), headers })
    for (let turn = 1; turn <= 7; turn++) await say(`Turn ${turn}.`)
    const sessions = [...(await said()).values()]
    expect(sessions).toHaveLength(1)
    expect(sessions[0]?.filter((line) => line.startsWith('user'))).toEqual(
      Array.from({ length: 7 }, (_turn, at) => `user: Turn ${at + 1}.`),
    )
    expect(sessions[0]?.map((line) => line.split(':')[0])).toEqual(Array(7).fill(['user', 'assistant']).flat())
  })

  test('have one set of tables, however many start at once, and one set of books', async () => {
    const { setups, schema } = await replicas(4)
    for (const { url } of setups) await talk({ urls: [url], headers: { 'x-everlong-session': 'chat' } })('Hello.')
    for (const { gateway } of setups) await gateway.settled()
    for (const { url } of setups)
      expect(await (await fetch(`${url}/everlong/report`)).json()).toMatchObject({
        requests: 4,
        tenants: [{ requests: 4 }],
      })
    const versions = await database?.query(`SELECT version FROM ${schema}_gateway.migration`)
    expect(versions).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }])
  })

  test('write all requests of a conversation that end at the same moment', async () => {
    const { setups, said } = await replicas(1)
    const headers = { 'x-everlong-session': 'chat' }
    await Promise.all(
      Array.from({ length: 8 }, (_, at) => talk({ urls: [setups[0]?.url ?? ''], headers })(`Part ${at}.`)),
    )
    const lines = (await said()).get('chat') ?? []
    expect(lines.filter((line) => line.startsWith('user')).toSorted()).toEqual(
      Array.from({ length: 8 }, (_, at) => `user: Part ${at}.`),
    )
    expect(lines).toHaveLength(16)
    expect(setups[0]?.lines.filter(({ event }) => event === 'not-recorded')).toEqual([])
  })

  test('write a conversation again that was erased while they remember it', async () => {
    const { setups, said, store } = await replicas(2)
    const headers = { 'x-everlong-session': 'chat' }
    const [one, other] = setups.map(({ url }) => talk({ urls: [url], headers }))
    await one?.('One.')
    await said()
    await store.erase({ sessions: ['chat'] })
    await other?.('Other.')
    await said()
    await one?.('Two.')
    expect((await said()).get('chat')?.filter((line) => line.startsWith('user'))).toEqual([
      ...['user: Other.', 'user: One.', 'user: Two.'],
    ])
  })

  test('give the same rewrite of level 3 to the same request, byte for byte', async () => {
    const requests: ScriptRequest[] = []
    const works: Script = (request) => {
      requests.push(request)
      const isDone = blocksOf(request.messages.at(-1)?.content).some(isToolResult)
      return isDone ? answerText('Done.') : toolUse('Bash', { command: 'npm test' })
    }
    const windows = { 'claude-sonnet-4-6': 20_000 }
    const { setups } = await replicas(2, { script: works, simulator: { windows }, config: { level: 'manage' } })
    const headers = { 'x-everlong-session': 'work' }
    const clients = setups.map(
      ({ url }) => new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0, defaultHeaders: headers }),
    )
    const tools = [{ name: 'Bash', description: 'runs a command', input_schema: { type: 'object' as const } }]
    const messages: Anthropic.MessageParam[] = []
    const send = (at: number) =>
      clients[at]?.messages.create({ model: 'claude-sonnet-4-6', max_tokens: 500, tools, messages: [...messages] })
    for (let turn = 0; turn < 16; turn++) {
      messages.push(user(`Step ${turn}.`))
      const asked = await send(turn % 2)
      const call = asked?.content.find((block) => block.type === 'tool_use')
      const output = Array.from({ length: 150 }, (_, line) => `${turn}.${line} everything as expected here`).join('\n')
      messages.push({ role: 'assistant', content: asked?.content ?? [] })
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: output }] })
      const done = await send((turn + 1) % 2)
      messages.push({ role: 'assistant', content: done?.content ?? [] })
    }
    messages.push(user('Continue.'))
    await send(0)
    await send(1)
    const [one, other] = requests.slice(-2).map((request) => JSON.stringify(request.messages))
    expect(one).toBe(other)
    // Something was left out, or the last request would not have fitted.
    expect(one?.length ?? 0).toBeLessThan(JSON.stringify(messages).length / 2)
  }, 60_000)

  test('find for a client what its tenant said, through any of them', async () => {
    const { setups } = await replicas(2, { config: { keys } })
    const [one, two] = setups.map(({ url }) => url) as [string, string]
    const say = (key: string, words: string) =>
      talk({ urls: [one], headers: { 'x-everlong-key': key, 'x-everlong-session': 'chat' } })(words)
    await say(annsKey, 'The heron nests in the third tower.')
    await say(bobsKey, 'The falcon nests in the first tower.')
    for (const { gateway } of setups) await gateway.settled()
    const found = await callRecall(two, annsKey, 'search', { query: 'heron tower' })
    expect(found).toContain('third tower')
    expect(found).not.toContain('first tower')
    const id = /[0-9a-f-]{36}@chat/.exec(found)?.[0] ?? ''
    expect(await callRecall(two, annsKey, 'read', { id })).toContain('The heron nests in the third tower.')
    expect(await callRecall(two, bobsKey, 'read', { id })).not.toContain('heron')
    expect(await callRecall(two, bobsKey, 'search', { query: 'heron' })).not.toContain('third')
  })

  test('pass requests while the database is away, and write everything once when it returns', async () => {
    const line = await cuttable(database?.url ?? '')
    const schema = `gateway_${++schemas}`
    const config = { store: { postgres: line.url, schema, connections: 4 }, level: 'manage' }
    const one = await setUp({ config })
    open.push(one)
    const say = talk({ urls: [one.url], headers: { 'x-everlong-session': 'chat' } })
    await say('One.')
    await one.gateway.settled()
    line.cut()
    await say('Two.')
    await expect.poll(() => readiness(one.url), { timeout: 10_000 }).toEqual([200, { status: 'ready', store: 'away' }])
    await say('Three.')
    expect(await (await fetch(`${one.url}/metrics`)).text()).toContain('everlong_gateway_store_up 0')
    line.restore()
    await expect.poll(() => readiness(one.url), { timeout: 10_000 }).toEqual([200, { status: 'ready' }])
    await say('Four.')
    await one.gateway.settled()
    const store = postgres({ url: database?.url ?? '', schema })
    expect(spoken(await recordsIn(store, 'chat'))).toEqual(
      ['One.', 'Two.', 'Three.', 'Four.'].flatMap((words, at) => [`user: ${words}`, `assistant: Answer ${at + 1}.`]),
    )
    expect(await (await fetch(`${one.url}/everlong/report`)).json()).toMatchObject({ requests: 4, failed: 0 })
    expect(one.lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['store-away', 'store-returned', 'not-managed']),
    )
    await store.close()
    await one.close()
    open.pop()
    await line.close()
  }, 40_000)

  test('write at their stop what waits for a database that was away', async () => {
    const line = await cuttable(database?.url ?? '')
    const schema = `gateway_${++schemas}`
    const one = await setUp({ config: { store: { postgres: line.url, schema, connections: 4 } } })
    open.push(one)
    const say = talk({ urls: [one.url], headers: { 'x-everlong-session': 'chat' } })
    await say('One.')
    await one.gateway.settled()
    line.cut()
    await say('Two.')
    const closing = one.gateway.close()
    await expect.poll(() => one.lines.map(({ event }) => event), { timeout: 10_000 }).toContain('store-away')
    line.restore()
    await closing
    const store = postgres({ url: database?.url ?? '', schema })
    const two = ['One.', 'Two.'].flatMap((words, at) => [`user: ${words}`, `assistant: Answer ${at + 1}.`])
    expect(spoken(await recordsIn(store, 'chat'))).toEqual(two)
    expect(one.lines.filter(({ event }) => event === 'not-recorded')).toEqual([])
    await store.close()
    await one.close()
    open.pop()
    await line.close()
  }, 40_000)

  test('start while the database is away if requests may pass, and not if they are refused', async () => {
    const line = await cuttable(database?.url ?? '')
    line.cut()
    const store = { postgres: line.url, schema: `gateway_${++schemas}`, connections: 4 }
    await expect(setUp({ config: { store, whenStoreIsAway: 'refuse' } })).rejects.toThrow('cannot be reached')
    const one = await setUp({ config: { store } })
    open.push(one)
    await talk({ urls: [one.url], headers: { 'x-everlong-session': 'chat' } })('Hello.')
    line.restore()
    await expect.poll(() => readiness(one.url), { timeout: 10_000 }).toEqual([200, { status: 'ready' }])
    await one.gateway.settled()
    expect(await (await fetch(`${one.url}/everlong/report`)).json()).toMatchObject({ requests: 1 })
    await one.close()
    open.pop()
    await line.close()
  }, 40_000)
})

async function readiness(url: string) {
  const response = await fetch(`${url}/readyz`)
  return [response.status, await response.json()]
}
