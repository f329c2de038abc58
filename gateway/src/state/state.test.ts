// What a gateway knows besides transcripts, in SQLite and in PostgreSQL, with the same rules.
import { connect } from 'everlong/internal/node'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../../engine/src/stores/testing/postgres-server.ts'
import type { Row } from '../books/book.ts'
import { postgresState } from './postgres.ts'
import { openState } from './sqlite.ts'
import type { State } from './state.ts'

const database = await postgresForTests()
const open: State[] = []
afterAll(async () => {
  for (const state of open) await state.close()
  await database?.stop()
})

let schemas = 0
const places = [
  { name: 'SQLite', make: () => openState(':memory:') },
  ...(database
    ? [
        {
          name: 'PostgreSQL',
          make: () => postgresState(connect({ url: database.url }, 8), `state_${++schemas}`) satisfies State,
        },
      ]
    : []),
]

const row = (id: string, more: Partial<Row> = {}): Row => ({
  ...{ id, time: 1_000, kind: 'client', tenant: 'acme', key: 'ann', user: undefined, session: 's', api: 'messages' },
  ...{ upstream: 'u', model: 'm', level: 'observe', status: 200, input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
  ...{ cacheWriteHour: 0, cost: 0.5, cache: 'hit', missCost: undefined, removed: 0, saved: 0, ms: 5, ...more },
})

describe.each(places)('$name', ({ make }) => {
  let state: State
  beforeEach(() => {
    state = make()
    open.push(state)
  })
  const sums = (period = {}) => state.books.sums(period)

  describe('the books', () => {
    test('have a row once, however often it is added', async () => {
      for (let at = 0; at < 3; at++) await state.books.add(row('one'))
      await state.books.add(row('two', { cost: undefined, saved: -0.25 }))
      expect(await sums()).toEqual([
        {
          ...{ kind: 'client', tenant: 'acme', model: 'm', level: 'observe', cache: 'hit', requests: 2, failed: 0 },
          ...{ input: 2, output: 4, cacheRead: 6, cacheWrite: 8, cost: 0.5, unpriced: 1, missCost: 0, removed: 0 },
          saved: -0.25,
        },
      ])
    })

    test('count as failed what has an error’s status, or none', async () => {
      for (const status of [0, 200, 299, 399, 400, 529]) await state.books.add(row(`of ${status}`, { status }))
      expect((await sums()).map(({ requests, failed }) => [requests, failed])).toEqual([[6, 3]])
    })

    test('keep kinds, tenants and outcomes apart, and begin exactly at the time that is asked for', async () => {
      await state.books.add(row('a', { time: 999 }))
      await state.books.add(row('b', { time: 1_000, kind: 'own', cache: undefined }))
      await state.books.add(row('c', { time: 1_001, tenant: 'rivals' }))
      const found = async (period: object) =>
        (await sums(period)).map(({ kind, tenant, cache }) => [kind, tenant, cache])
      expect(await found({})).toHaveLength(3)
      expect(await found({ since: 1_000 })).toEqual([
        ['client', 'rivals', 'hit'],
        ['own', 'acme', undefined],
      ])
      expect(await found({ tenant: 'rivals' })).toEqual([['client', 'rivals', 'hit']])
    })

    test('expire for one tenant, before the time and not at it', async () => {
      for (const time of [998, 999, 1_000]) await state.books.add(row(`at ${time}`, { time }))
      await state.books.add(row('other', { time: 1, tenant: 'rivals' }))
      expect(await state.expire({ tenant: 'acme', before: 999 })).toBe(1)
      expect((await sums()).map(({ tenant, requests }) => [tenant, requests])).toEqual([
        ['acme', 2],
        ['rivals', 1],
      ])
      expect(await state.tenants()).toEqual(['acme', 'rivals'])
    })

    test('forget a user of one tenant, and keep the sums', async () => {
      await state.books.add(row('a', { user: 'ann', session: 'one' }))
      await state.books.add(row('b', { user: 'ann', session: 'two' }))
      await state.books.add(row('c', { user: 'ann', session: 'three', tenant: 'rivals' }))
      await state.books.add(row('d', { user: 'bob', session: 'four' }))
      expect(await state.sessionsOf('acme', 'ann')).toEqual(['one', 'two'])
      expect([await state.anonymize('acme', 'ann'), await state.anonymize('acme', 'ann')]).toEqual([2, 0])
      expect(await state.sessionsOf('acme', 'ann')).toEqual([])
      expect([await state.sessionsOf('rivals', 'ann'), await state.sessionsOf('acme', 'bob')]).toEqual([
        ['three'],
        ['four'],
      ])
      expect((await sums({ tenant: 'acme' })).map(({ requests }) => requests)).toEqual([3])
    })
  })

  describe('conversations without a name', () => {
    const places = (...digests: readonly string[]) => digests.map((digest, at) => ({ digest, depth: at + 1 }))
    let ids = 0
    const claim = (tenant: string, ...digests: readonly string[]) =>
      state.heads.claim({ tenant, places: places(...digests), newId: () => `new-${++ids}` })

    test('lead all claims at once to one session', async () => {
      const claimed = await Promise.all(Array.from({ length: 12 }, () => claim('acme', 'a', 'b')))
      expect(new Set(claimed.map(({ session }) => session)).size).toBe(1)
      expect((await claim('rivals', 'a', 'b')).session).not.toBe(claimed[0]?.session)
    })

    test('continue from their newest answer; from an earlier one they fork', async () => {
      const { session } = await claim('acme', 'a')
      await state.heads.answered('acme', session, { digest: 'a1', depth: 2 })
      await claim('acme', 'a', 'a1', 'b')
      await state.heads.answered('acme', session, { digest: 'b1', depth: 4 })
      // An answer to an earlier request that is written later changes nothing.
      await state.heads.answered('acme', session, { digest: 'a1', depth: 2 })
      expect(await claim('acme', 'a', 'a1', 'b', 'b1', 'c')).toEqual({ session, forkedFrom: undefined })
      const fork = await claim('acme', 'a', 'a1', 'other')
      expect([fork.session === session, fork.forkedFrom]).toEqual([false, session])
    })

    test('are forgotten with their session only', async () => {
      const [one, two] = [await claim('acme', 'a'), await claim('acme', 'z')]
      await state.heads.answered('acme', one.session, { digest: 'a1', depth: 2 })
      await state.notes.put('acme', one.session, 'watch', 'text')
      await state.notes.put('acme', two.session, 'watch', 'text')
      expect(await state.forget('acme', [one.session, 'unknown'])).toBe(4)
      expect(await state.forget('acme', [one.session])).toBe(0)
      expect((await claim('acme', 'a')).session).not.toBe(one.session)
      expect((await claim('acme', 'z')).session).toBe(two.session)
      expect(await state.notes.get('acme', two.session, 'watch')).toBe('text')
    })
  })

  test('notes are of a tenant, a session and a kind, and the newest counts', async () => {
    const { get, put, remove } = state.notes
    await put('acme', 's', 'watch', 'old')
    await put('acme', 's', 'watch', 'new')
    await put('acme', 's', 'compacted', 'other')
    expect([
      await get('acme', 's', 'watch'),
      await get('rivals', 's', 'watch'),
      await get('acme', 't', 'watch'),
    ]).toEqual([...['new', undefined, undefined]])
    await remove('acme', 's', 'watch')
    expect([await get('acme', 's', 'watch'), await get('acme', 's', 'compacted')]).toEqual([undefined, 'other'])
  })
})
