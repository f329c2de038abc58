// A user is erased, and others stay: in a folder and in PostgreSQL, plain and encrypted. Also what is removed by its age.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { checkConfig } from './config/load.ts'
import { eraseUser } from './erasure.ts'
import { userOf } from './identify/user.ts'
import { removeOld } from './retention.ts'
import { openStores } from './stores.ts'
import { annsKey, bobsKey, callRecall, keys, model, started, user } from './testing/started.ts'

const database = await postgresForTests()
afterAll(() => database?.stop())

let schemas = 0
const encryption = { keys: [{ id: 'k1', secret: randomBytes(32).toString('hex') }] }
const inPostgres = () => ({ store: { postgres: database?.url ?? '', schema: `erasure_${++schemas}`, connections: 4 } })
const places: readonly (readonly [string, () => { readonly store?: { readonly schema: string } }])[] = [
  ['a folder', () => ({})],
  ['a folder, encrypted', () => ({ encryption })],
  ...(database
    ? [['PostgreSQL', inPostgres] as const, ['PostgreSQL, encrypted', () => ({ ...inPostgres(), encryption })] as const]
    : []),
]

const dayMs = 86_400_000

function makeOlder(folder: string, days: number): void {
  const time = new Date(Date.now() - days * dayMs)
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (name.endsWith('.jsonl')) utimesSync(join(parentPath, name), time, time)
}

type Saying = { readonly key: string; readonly session?: string; readonly user: string | undefined }

async function say(url: string, words: string, { key, session, user: name }: Saying): Promise<void> {
  const headers = {
    ...{ 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'x-everlong-key': key },
    ...(session === undefined ? {} : { 'x-everlong-session': session }),
  }
  const metadata = name === undefined ? {} : { metadata: { user_id: name } }
  const body = JSON.stringify({ model, max_tokens: 50, messages: [user(words)], ...metadata })
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
  expect(response.status).toBe(200)
}

describe.each(places)('in %s', (_, place) => {
  test('nothing is left of a user, everything of others, and a second time there is nothing to do', async () => {
    const config = { keys, level: 'manage', ...place() }
    const { url, gateway, folder } = await started({ config })
    await say(url, 'I am Ann, about herons.', { key: annsKey, session: 'one', user: 'ann' })
    await say(url, 'Ann without a name for it.', { key: annsKey, user: 'ann' })
    await say(url, 'Nobody in particular.', { key: annsKey, session: 'two', user: undefined })
    await say(url, 'I am Carl, about cranes.', { key: annsKey, session: 'three', user: 'carl' })
    await say(url, 'Ann at the rivals.', { key: bobsKey, session: 'one', user: 'ann' })
    await say(url, 'Ann joins.', { key: annsKey, session: 'two', user: 'ann' })
    await gateway.settled()
    expect(await callRecall(url, annsKey, 'search', { query: 'herons' })).toContain('about herons')
    await gateway.close()
    const stores = openStores(checkConfig({ ...config, data: folder }, 'the test'), () => undefined)
    await stores.ready()
    const who = { tenant: 'acme', user: 'ann' }
    const erased = await eraseUser(stores, who)
    expect(erased).toEqual({ ...who, sessions: 3, managed: 3, notes: expect.any(Number), rows: 3 })
    expect(erased.notes).toBeGreaterThan(0)
    expect(await eraseUser(stores, who)).toEqual({ ...who, sessions: 0, managed: 0, notes: 0, rows: 0 })
    const left = async (tenant: string) => (await stores.storeOf(tenant).list()).map(({ id }) => id)
    expect([await left('acme'), await left('rivals')]).toEqual([['three'], ['one']])
    expect((await stores.managedStoreOf('acme').list()).map(({ id }) => id)).toEqual(['three'])
    // What was paid is still known.
    expect((await stores.state.books.sums({ tenant: 'acme' })).reduce((sum, { requests }) => sum + requests, 0)).toBe(5)
    await stores.close()
    if (config.store === undefined) {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((item) => item.isFile())
      for (const { parentPath, name } of files)
        expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain('herons')
    }
  }, 30_000)

  test('of a user’s sub-agents nothing is left either, also not the copies of level 3', async () => {
    const config = { keys, level: 'manage', ...place() }
    const { url, gateway, folder } = await started({ config })
    const body = (words: string) => JSON.stringify({ model, max_tokens: 50, messages: [user(words)] })
    const claudeCode = { 'x-claude-code-session-id': 'cc', 'user-agent': 'claude-cli/2', 'x-everlong-user': 'ann' }
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'x-everlong-key': annsKey, ...claudeCode }
    const send = (words: string, agent: object) =>
      fetch(`${url}/v1/messages`, { method: 'POST', headers: { ...headers, ...agent }, body: body(words) })
    await send('A sub-agent begins.', { 'x-claude-code-agent-id': 'a1' })
    await gateway.close()
    const stores = openStores(checkConfig({ ...config, data: folder }, 'the test'), () => undefined)
    await stores.ready()
    const counts = async () => [
      ...[(await stores.storeOf('acme').list()).length, (await stores.managedStoreOf('acme').list()).length],
    ]
    const before = await counts()
    expect(await eraseUser(stores, { tenant: 'acme', user: 'ann' })).toMatchObject({ managed: 1, rows: 1 })
    expect([before[1], await counts()]).toEqual([1, [0, 0]])
    await stores.close()
  })

  test('an old session that is being written stays, with what is known about it', async () => {
    const config = { keys, ...place(), retention: { sessionDays: 5 } }
    const { url, gateway, folder } = await started({ config: { ...config, retention: {} } })
    for (const session of ['idle', 'busy']) await say(url, 'Hello.', { key: annsKey, session, user: undefined })
    await gateway.close()
    const checked = checkConfig({ ...config, data: folder }, 'the test')
    const stores = openStores(checked, () => undefined)
    await stores.ready()
    const schema = config.store?.schema
    if (schema === undefined) makeOlder(join(folder, 'sessions'), 10)
    else await database?.query(`UPDATE ${schema}.session SET changed = changed - interval '10 days'`)
    const opened = await stores.storeOf('acme').open('busy', { as: 'existing', owner: 'another gateway' })
    expect(await removeOld(stores, checked, Date.now())).toMatchObject([{ tenant: 'acme', sessions: 1 }])
    expect((await stores.storeOf('acme').list()).map(({ id }) => id)).toEqual(['busy'])
    const known = async (session: string) => (await stores.state.notes.get('acme', session, 'watch')) !== undefined
    expect([await known('idle'), await known('busy')]).toEqual([false, true])
    if (opened.type === 'opened') await opened.session.release()
    await stores.close()
  })

  test('old sessions and rows go, by the days of their tenant', async () => {
    const retention = { sessionDays: 30, bookDays: 60, tenants: { rivals: { sessionDays: 5 } } }
    const config = { keys, ...place() }
    const { url, gateway, folder } = await started({ config })
    await say(url, 'Hello of Ann.', { key: annsKey, user: undefined })
    await say(url, 'Hello of Bob.', { key: bobsKey, user: undefined })
    await gateway.close()
    const checked = checkConfig({ ...config, retention, data: folder }, 'the test')
    const stores = openStores(checked, () => undefined)
    await stores.ready()
    expect(await removeOld(stores, checked, Date.now())).toEqual([])
    const schema = config.store?.schema
    if (schema === undefined) makeOlder(join(folder, 'sessions'), 10)
    else await database?.query(`UPDATE ${schema}.session SET changed = changed - interval '10 days'`)
    expect(await removeOld(stores, checked, Date.now())).toEqual([{ tenant: 'rivals', sessions: 1, rows: 0 }])
    const left = async (tenant: string) => (await stores.storeOf(tenant).list()).length
    expect([await left('acme'), await left('rivals')]).toEqual([1, 0])
    const later = Date.now() + 61 * dayMs
    expect(await removeOld(stores, { ...checked, retention: { bookDays: 60, tenants: {} } }, later)).toEqual([
      { tenant: 'acme', sessions: 0, rows: 1 },
      { tenant: 'rivals', sessions: 0, rows: 1 },
    ])
    await stores.close()
  })
})

test.runIf(database)(
  'on a database retention is a job that one process does',
  async () => {
    const config = { keys, ...inPostgres(), retention: { tenants: { acme: { sessionDays: 5 } } } }
    const url = database?.url ?? ''
    const { schema } = config.store
    const first = await started({ config: { ...config, retention: {} } })
    await say(first.url, 'Old words.', { key: annsKey, session: 'old', user: undefined })
    await say(first.url, 'New words.', { key: annsKey, session: 'new', user: undefined })
    await say(first.url, 'Old words.', { key: bobsKey, session: 'old', user: undefined })
    await first.gateway.settled()
    expect(url).not.toBe('')
    await database?.query(`UPDATE ${schema}.session SET changed = changed - interval '6 days' WHERE id = 'old'`)
    const replicas = [await started({ config }), await started({ config })]
    const removed = () => replicas.flatMap(({ lines }) => lines.filter(({ event }) => event === 'removed-old'))
    await expect.poll(() => removed().length, { timeout: 20_000 }).toBe(1)
    expect(removed()).toMatchObject([{ tenant: 'acme', sessions: 1, rows: 0 }])
    // One job for both, so that nothing is left to do for the other.
    expect(await database?.query(`SELECT name FROM ${schema}_jobs.job WHERE name = 'retention'`)).toHaveLength(1)
    const left = await database?.query(`SELECT tenant, id FROM ${schema}.session ORDER BY 1, 2`)
    expect(left).toEqual([
      { tenant: 'acme', id: 'new' },
      { tenant: 'rivals', id: 'old' },
    ])
  },
  40_000,
)

test.each([
  ['our header first', { 'x-everlong-user': 'ann' }, { metadata: { user_id: 'bob' } }, 'ann'],
  ['a plain name', {}, { metadata: { user_id: 'bob' } }, 'bob'],
  [
    'the account of Claude Code',
    {},
    { metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: 'a-1', session_id: 's' }) } },
    'a-1',
  ],
  [
    'its device without an account',
    {},
    { metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: '', session_id: 's' }) } },
    'd',
  ],
  ['the older form', {}, { metadata: { user_id: 'user_0af_account_a-2_session_s-3' } }, 'a-2'],
  ['the older form without an account', {}, { metadata: { user_id: 'user_0af_account__session_s-3' } }, '0af'],
  ['the field of OpenAI', {}, { user: 'carl' }, 'carl'],
  ['its newer field', {}, { user: 'carl', safety_identifier: 'dora' }, 'dora'],
  ['nobody', {}, {}, undefined],
  ['nobody, if it is no text', {}, { user: 7 }, undefined],
  ['nobody, if no database could hold it', {}, { user: 'a\0b' }, undefined],
])('the user of a request: %s', (_, headers, body, expected) => {
  expect(userOf(headers, body as never)).toBe(expected)
})
