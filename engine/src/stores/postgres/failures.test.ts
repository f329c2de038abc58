// Messages for a person if the database cannot be used.

import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { StoreError } from '../../core/ports/session-store.ts'
import { runStoreContract } from '../../testing/stores/contract.ts'
import { postgresForTests } from '../testing/postgres-server.ts'
import type { PostgresPool } from './connection.ts'
import { postgres } from './postgres.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

async function whyNot(options: Parameters<typeof postgres>[0]): Promise<string> {
  return (await failureOf(options))?.message ?? 'opened'
}

async function failureOf(options: Parameters<typeof postgres>[0]): Promise<StoreError | undefined> {
  const store = postgres(options)
  try {
    await store.open('s', { as: 'new' })
    return undefined
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return error
  } finally {
    await store.close()
  }
}

test('a URL that is not one of PostgreSQL is refused at once, without showing it', () => {
  const urls = [
    '',
    'localhost:5432',
    'mysql://user:secret@host/db',
    'postgres://user:sec ret@host:port/db',
    'postgres:/me:secret@host/db',
    'postgres:me:secret@host/db',
    'postgres:///me:secret@host/db',
    'postgres://me:12/secret@host/db',
    'postgres://me:12#secret@host/db',
    'postgres://me:12?secret@host/db',
    'postgres://me@corp:12/secret@host/db',
  ]
  for (const url of urls) {
    expect([url, thrownBy(() => postgres({ url }))]).toEqual([
      url,
      expect.objectContaining({
        name: 'StoreError',
        reason: 'invalid',
        message:
          'The URL of the session store is not one of PostgreSQL: postgres://USER:PASSWORD@HOST:PORT/DATABASE. ' +
          'In USER and PASSWORD, other characters than letters and digits must be percent-encoded.',
      }),
    ])
  }
})

test('neither user nor password of a URL is in an error, nor in its cause', async () => {
  const urls = [
    'postgres://hidden:s3cret@127.0.0.1:1/app',
    'postgres://s3cret@127.0.0.1:1/app',
    'postgres://hidden:%zzs3cret@127.0.0.1:1/app',
    'postgres://hidden:s3cret@127.0.0.1:1/%zz',
    'postgres://127.0.0.1:1/app?user=hidden&password=s3cret',
    ...(server
      ? [server.url.replace('postgres@', 'hidden-s3cret@'), server.url.replace('postgres@', 'hidden:s3cret@')]
      : []),
  ]
  for (const url of urls) {
    const error = await failureOf({ url })
    expect([url, error?.name]).toEqual([url, 'StoreError'])
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/s3cret|hidden/)
  }
})

function thrownBy(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

test('a name that could not be stored is refused before the database sees it', async () => {
  expect(() => postgres({ url: 'postgres://h/d', schema: 'x; DROP TABLE y' })).toThrow(StoreError)
  expect(() => postgres({ url: 'postgres://h/d', tenant: '' })).toThrow(StoreError)
  await expect(postgres({ url: 'postgres://h/d' }).open('a\0b', { as: 'new' })).rejects.toThrow(StoreError)
})

test('a database that cannot be reached is named, without its password', async () => {
  expect(await whyNot({ url: 'postgres://me:secret@127.0.0.1:1/app' })).toBe(
    'PostgreSQL at 127.0.0.1:1/app cannot be reached or is busy: connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED).',
  )
})

describe.runIf(server)('a database that can be reached', () => {
  if (!server) return
  const at = (user: string, database = 'postgres') => {
    const url = new URL(server.url)
    url.username = user
    url.pathname = `/${database}`
    return url.href
  }

  test('says what is wrong with the URL', async () => {
    const where = `PostgreSQL at ${new URL(server.url).host}`
    expect(await whyNot({ url: at('postgres', 'nowhere') })).toBe(
      `${where}/nowhere has no such database. Create it, or correct the URL. (database "nowhere" does not exist)`,
    )
    expect(await whyNot({ url: at('stranger') })).toBe(
      `${where}/postgres refused the login. Check user and password in the URL. (28000)`,
    )
  })

  test('says which permission is missing', async () => {
    await server.query('CREATE ROLE guest LOGIN')
    expect(await whyNot({ url: at('guest'), schema: 'private' })).toContain(
      'does not permit creating the tables. Grant the role CREATE on the database, or create the schema and grant CREATE on it.',
    )
    await server.store({ schema: 'readable' }).ready()
    await server.query('CREATE ROLE reader LOGIN')
    const access =
      'Grant the role USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, and USAGE on its sequence.'
    expect(await whyNot({ url: at('reader'), schema: 'readable' })).toContain(`does not permit this. ${access}`)
    await server.query('GRANT USAGE ON SCHEMA readable TO reader')
    await server.query('GRANT SELECT ON ALL TABLES IN SCHEMA readable TO reader')
    expect(await whyNot({ url: at('reader'), schema: 'readable' })).toContain(`does not permit this. ${access}`)
    const reading = postgres({ url: at('reader'), schema: 'readable' })
    expect(await reading.list()).toEqual([])
    await reading.close()
  })

  test('gets no connection back that is still in a failed transaction: the pool may be the host’s', async () => {
    await server.query('CREATE ROLE shopkeeper LOGIN')
    const pool = new pg.Pool({ connectionString: at('shopkeeper'), max: 1 })
    await expect(postgres({ pool, schema: 'private' }).ready()).rejects.toMatchObject({ reason: 'denied' })
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })

  test('can be used by a role that may not create tables, once they are there', async () => {
    await server.store({ schema: 'shared' }).ready()
    await server.query('CREATE ROLE worker LOGIN')
    await server.query('GRANT USAGE ON SCHEMA shared TO worker')
    await server.query('GRANT ALL ON ALL TABLES IN SCHEMA shared TO worker')
    await server.query('GRANT ALL ON ALL SEQUENCES IN SCHEMA shared TO worker')
    expect(await whyNot({ url: at('worker'), schema: 'shared' })).toBe('opened')
  })

  test('is not touched if its tables are newer', async () => {
    await server.store({ schema: 'newer' }).ready()
    await server.query('INSERT INTO newer.migration (version) VALUES (99)')
    expect(await whyNot({ url: server.url, schema: 'newer' })).toBe(
      'The tables in the schema newer have version 99; this version of Everlong knows 1. Update Everlong.',
    )
  })

  test('names the reason for a program', async () => {
    await server.store({ schema: 'newest' }).ready()
    await server.query('INSERT INTO newest.migration (version) VALUES (99)')
    await server.query('CREATE ROLE visitor LOGIN')
    const reasonFor = async (options: Parameters<typeof postgres>[0]) => (await failureOf(options))?.reason
    expect(await reasonFor({ url: 'postgres://me@127.0.0.1:1/app' })).toBe('unavailable')
    expect(await reasonFor({ url: at('stranger') })).toBe('denied')
    expect(await reasonFor({ url: at('visitor'), schema: 'private' })).toBe('denied')
    expect(await reasonFor({ url: at('postgres', 'nowhere') })).toBe('invalid')
    expect(await reasonFor({ url: server.url, schema: 'newest' })).toBe('newer')
    const closed = server.store({ schema: 'newest' })
    await closed.close()
    await expect(closed.list()).rejects.toMatchObject({ reason: 'closed' })
  })

  test('gets its tables once, however many workers start at the same time', async () => {
    const stores = Array.from({ length: 8 }, () => server.store({ schema: 'crowded' }))
    await Promise.all(stores.map((store) => store.ready()))
    expect(await server.query('SELECT version FROM crowded.migration')).toEqual([{ version: 1 }])
  })

  test('may have a schema whose name is a word of SQL', async () => {
    const store = server.store({ schema: 'select' })
    expect(await runStoreContract({ store })).toEqual({ broken: [] })
  })

  test('that is not there at first is used as soon as it is', async () => {
    const pool = new pg.Pool({ connectionString: server.url })
    let isDown = true
    const query: PostgresPool['query'] = async (text, values) => {
      if (isDown) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      return pool.query(text, values)
    }
    const store = postgres({ pool: { query, connect: () => pool.connect(), end: () => pool.end() }, schema: 'late' })
    await expect(store.ready()).rejects.toMatchObject({ reason: 'unavailable' })
    isDown = false
    expect((await store.open('s', { as: 'new' })).type).toBe('opened')
    await pool.end()
  })

  test('that fails between taking a session and reading it leaves the session free', async () => {
    const first = await server.store({ schema: 'half' }).open('s', { as: 'new' })
    if (first.type === 'opened') await first.session.release()
    const pool = new pg.Pool({ connectionString: server.url })
    const query: PostgresPool['query'] = async (text, values) => {
      if (/max\(seq\)/.test(text)) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      return pool.query(text, values)
    }
    const store = postgres({ pool: { query, connect: () => pool.connect(), end: () => pool.end() }, schema: 'half' })
    await expect(store.open('s', { as: 'existing' })).rejects.toMatchObject({ reason: 'unavailable' })
    expect((await store.list()).map(({ isHeld }) => isHeld)).toEqual([false])
    await pool.end()
  })

  test('that comes back is used again', async () => {
    const store = server.store({ schema: 'back' })
    await store.ready()
    await server.restart('shutdown')
    expect((await store.open('s', { as: 'new' })).type).toBe('opened')
  })

  test('refuses a session whose table was taken away with one clear error', async () => {
    const store = server.store({ schema: 'gone' })
    await store.ready()
    await server.query('DROP SCHEMA gone CASCADE')
    await expect(store.list()).rejects.toThrow(/relation "gone.session" does not exist \(42P01\)/)
  })
})
