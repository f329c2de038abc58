// Sessions in a real PostgreSQL.
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { type HeldSession, noPosition, type SessionStore, type StoredRecord } from '../../core/ports/session-store.ts'
import { recallFrom } from '../../core/session/recall-entries.ts'
import { StoredSession } from '../../core/session/stored-session.ts'
import { foldEntries } from '../../core/transcript/view/fold.ts'
import { generateSession } from '../../testing/sessions/session.ts'
import { runStoreContract } from '../../testing/stores/contract.ts'
import { postgresForTests } from '../testing/postgres-server.ts'
import { losingPool, pooledByProxy, watchedPool } from '../testing/watched-pool.ts'
import { postgres } from './postgres.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

async function take(store: SessionStore, id: string, as: 'new' | 'existing' = 'new'): Promise<HeldSession> {
  const result = await store.open(id, { as, isCopy: true })
  if (result.type !== 'opened') throw new Error(result.type)
  return result.session
}

const user = (uuid: string, content: unknown = uuid): StoredRecord => ({
  id: uuid,
  record: { type: 'user', uuid, parentUuid: null, message: { role: 'user', content } },
})

async function idsIn(store: SessionStore, id: string): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const entry of store.records(id)) ids.push(entry.id)
  return ids
}

const longSession = () => [...generateSession({ seed: 5, turns: 60, boundaries: 4 })]

const storedRecords = (records: ReturnType<typeof longSession>): readonly StoredRecord[] =>
  records.map((record, at) => ({ id: typeof record.uuid === 'string' ? record.uuid : `no-uuid-${at}`, record }))

describe.runIf(server)('sessions in PostgreSQL', () => {
  if (!server) return

  test('keep the contract of a store, for two tenants at once', async () => {
    const schema = 'contract'
    const contract = (tenant: string) =>
      runStoreContract({
        store: server.store({ schema, tenant }),
        other: server.store({ schema, tenant }),
        expire: async () => {
          const past = "clock_timestamp() - interval '1 second'"
          await server.query(`UPDATE ${schema}.session SET lease_until = ${past} WHERE tenant = $1`, [tenant])
        },
      })
    expect(await Promise.all([contract('one'), contract('two')])).toEqual([{ broken: [] }, { broken: [] }])
    const left = `SELECT (SELECT count(*) FROM ${schema}.entry) + (SELECT count(*) FROM ${schema}.blob) AS rows`
    expect(await server.query(left)).toEqual([{ rows: '0' }])
  })

  test('keep it behind a proxy that gives each transaction another connection', async () => {
    const pool = pooledByProxy(server.url)
    const store = postgres({ pool, schema: 'proxied' })
    expect(await runStoreContract({ store })).toEqual({ broken: [] })
    await pool.end()
  })

  test('name the tenant in every statement, and keep nothing in a connection', async () => {
    const pool = watchedPool(server.url)
    const store = postgres({ pool, schema: 'watched', tenant: 'acme' })
    await store.ready()
    pool.statements.length = 0
    await runStoreContract({ store })
    expect(pool.statements.length).toBeGreaterThan(50)
    for (const { text, values } of pool.statements) {
      expect(values[0]).toBe('acme')
      const tables = [...text.matchAll(/(?:FROM|JOIN|UPDATE|INTO) "watched"\.(\w+)/g)].length
      expect([text, tables]).toEqual([text, Math.max(tables, 1)])
      const named = [...text.matchAll(/tenant = \$1|\(tenant, /g)].length
      expect([text, named]).toEqual([text, Math.max(tables, named)])
      expect(text).not.toMatch(/\b(LISTEN|PREPARE|SET SESSION|SET (?!head|fence|lease)|pg_(try_)?advisory_lock|TEMP)\b/)
    }
    await pool.end()
  })

  test('are opened from the last boundary on, without the rest and its large results', async () => {
    const pool = watchedPool(server.url)
    const store = postgres({ pool, schema: 'tail' })
    const records = longSession()
    const session = await take(store, 'long')
    await session.append(storedRecords(records), 0)
    await session.release()
    pool.statements.length = 0
    const again = await take(store, 'long', 'existing')
    const read = pool.statements.reduce((sum, { rows }) => sum + rows, 0)
    expect(again.isWhole).toBe(false)
    expect(again.entries.length).toBeLessThan(records.length / 2)
    expect(read).toBeLessThan(records.length)
    const whole = foldEntries(records.map((record) => ({ record, position: noPosition })))
    expect(foldEntries(again.entries).messages).toEqual(whole.messages)
    await again.release()
    await pool.end()
  })

  test('store a large result once, however often it occurs', async () => {
    const store = server.store({ schema: 'large' })
    const session = await take(store, 's')
    const text = 'A long listing. '.repeat(1_000)
    for (let at = 0; at < 5; at++) await session.append([user(`u${at}`, [{ type: 'text', text }])], at)
    expect(await server.query('SELECT count(*) AS blobs FROM large.blob')).toEqual([{ blobs: '1' }])
    const [size] = await server.query('SELECT max(length(body)) AS longest FROM large.entry')
    expect(Number(size?.longest)).toBeLessThan(300)
    expect((await session.all()).map(({ record }) => record)).toEqual(
      [0, 1, 2, 3, 4].map((at) => user(`u${at}`, [{ type: 'text', text }]).record),
    )
    await session.release()
  })

  test('find what a search in memory finds, in the same order', async () => {
    const store = server.store()
    // Few enough for the index to consider all.
    const records = longSession().slice(0, 90)
    const session = await take(store, 's')
    await session.append(storedRecords(records), 0)
    const entries = records.map((record) => ({ record, position: noPosition }))
    for (const words of [
      'error',
      'src/',
      'why did the tests fail in the store?',
      '"the tests" failing',
      'func* returns',
      'import { ',
      'nowhere-to-be-found',
    ]) {
      expect([words, await session.recall(words, 20)]).toEqual([words, recallFrom(entries, words, 20)])
    }
    await session.append([user('cjk', '東京へ行きます。zebraRecord(snake_stripe) zebra는 ตลาดเมื่อวาน')], records.length)
    for (const words of ['京へ行', 'zebra', 'stripe', 'zebrarecord', 'zebra는', 'snake_stripe', 'เมื่อ']) {
      expect([words, (await session.recall(words, 5)).matches.map(({ id }) => id)]).toEqual([words, ['cjk']])
    }
    await session.release()
  })

  test('of many entries with a common word, find those that have the others too, however old', async () => {
    const store = server.store()
    const session = await take(store, 's')
    const common = Array.from({ length: 300 }, (_, at) => user(`u${at}`, `the heron of day ${at}`))
    await session.append([user('old', 'a heron and a zeppelin'), ...common], 0)
    const { matches, more } = await session.recall('what about the heron on a zeppelin?', 3)
    expect([matches.map(({ id }) => id), more]).toEqual([['old', 'u0', 'u1'], true])
    await session.release()
  })

  test('survive an answer that never arrived: the retry stores nothing twice', async () => {
    let isLost = false
    const pool = losingPool(server.url, (text) => isLost && text.includes('INSERT'))
    const store = postgres({ pool, schema: 'lost' })
    const session = await take(store, 's')
    isLost = true
    const first = await session.append([user('a'), user('b')], 0)
    expect(first).toEqual({
      type: 'unavailable',
      why: 'PostgreSQL of the given pool cannot be reached or is busy: read ECONNRESET (ECONNRESET).',
    })
    isLost = false
    expect(await session.append([user('a'), user('b')], 0)).toEqual({ type: 'stored', version: 2 })
    expect(await idsIn(store, 's')).toEqual(['a', 'b'])
    await session.release()
    await pool.end()
  })

  test('outlive a crash of the database: what was appended meanwhile is stored when it is back', async () => {
    const store = server.store()
    const session = await take(store, 's')
    let ids = 0
    const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
    const records = new StoredSession(session, { newId: () => `made-${++ids}`, now: Date.now, wait })
    records.append([user('before').record])
    await records.flush?.()
    const restarted = server.restart('crash')
    for (const id of ['m1', 'm2', 'm3']) records.append([user(id).record])
    expect(await records.flush?.()).toEqual({ type: 'stored' })
    await restarted
    expect(await idsIn(store, 's')).toEqual(['before', 'm1', 'm2', 'm3'])
    await records.close()
  })

  test('leave a pool of the host open, and close their own', async () => {
    const pool = new pg.Pool({ connectionString: server.url })
    const store = postgres({ pool, schema: 'hosted' })
    await store.ready()
    await store.close()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await expect(store.list()).rejects.toThrow('The session store is closed.')
    await pool.end()
  })

  test('tell a writer that lost its session so, also when the next one has let it go again', async () => {
    const schema = 'lost_lease'
    const store = server.store({ schema })
    const slow = await take(store, 's')
    await server.query(`UPDATE ${schema}.session SET lease_until = clock_timestamp() - interval '1 second'`)
    const quick = await take(store, 's', 'existing')
    const lost = (why: string) => ({ type: 'refused', why, reason: 'lost' })
    expect(await slow.append([user('a')], 0)).toEqual(lost('The session s was taken over by everlong.'))
    await quick.release()
    const sentence = 'The session s was taken over by another writer, which has released it since.'
    expect(await slow.append([user('a')], 0)).toEqual(lost(sentence))
    await slow.release()
  })

  test('are taken by a second worker if the first one lets go while it is asking', async () => {
    const holder = await take(server.store({ schema: 'race' }), 's')
    const pool = watchedPool(server.url)
    let asked = 0
    const query: typeof pool.query = async (text, values) => {
      // Between the attempt to take the session and the query for its holder.
      if (/SELECT owner/.test(text) && ++asked === 1) await holder.release()
      return pool.query(text, values)
    }
    const store = postgres({ pool: { ...pool, query }, schema: 'race' })
    expect((await store.open('s', { as: 'existing' })).type).toBe('opened')
    expect(asked).toBe(1)
    await pool.end()
  })

  test('keep a uuid to one record, and say so', async () => {
    const session = await take(server.store(), 's')
    await session.append([user('a')], 0)
    expect(await session.append([user('a')], 1)).toEqual({
      type: 'refused',
      why: 'A record has a uuid that the session s has already.',
      reason: 'invalid',
    })
    expect((await session.all()).length).toBe(1)
    await session.release()
  })
})
