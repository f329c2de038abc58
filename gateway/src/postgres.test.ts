// Two gateways on one PostgreSQL database: any of them serves any request.
import Anthropic from '@anthropic-ai/sdk'
import { postgres } from 'everlong/postgres'
import type { SessionStore } from 'everlong/stores'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { recordsIn, type Setup, type SetupOptions, setUp, spoken } from './testing/setup.ts'
import { model, user } from './testing/started.ts'

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
})
