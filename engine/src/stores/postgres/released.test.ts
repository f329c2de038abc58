// This version reads and continues databases of earlier versions.
import { afterAll, describe, expect, test } from 'vitest'
import type { SessionStore, StoredRecord } from '../../core/ports/session-store.ts'
import { postgresForTests } from '../testing/postgres-server.ts'
import { readReleased, restoreReleased } from '../testing/released.ts'
import { sessionMigrations } from './migrations.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

const versions = sessionMigrations.map((_, at) => at + 1)

async function recordsIn(store: SessionStore, id: string) {
  const records: StoredRecord[] = []
  for await (const { id: uuid, record } of store.records(id)) records.push({ id: uuid, record })
  return records
}

describe.runIf(server).each(versions)('tables of version %i', (version) => {
  if (!server) return
  const schema = `released_${version}`
  const { sessions } = readReleased(version)

  test('are there as they were released (write them with node engine/src/stores/testing/released.ts)', async () => {
    await restoreReleased(server, version, schema)
    expect(await server.query(`SELECT max(version) AS version FROM ${schema}.migration`)).toEqual([{ version }])
  })

  test('give back every record, and become current', async () => {
    const store = server.store({ schema })
    expect((await store.list()).map(({ id }) => id)).toEqual(Object.keys(sessions).toSorted())
    for (const [id, records] of Object.entries(sessions)) {
      expect(await recordsIn(store, id)).toEqual(records)
    }
    const applied = await server.query(`SELECT version FROM ${schema}.migration ORDER BY version`)
    expect(applied).toEqual(versions.map((each) => ({ version: each })))
    await store.close()
  })

  test('can be searched, continued and erased', async () => {
    const store = server.store({ schema })
    const opened = await store.open('large', { as: 'existing' })
    if (opened.type !== 'opened') throw new Error(opened.type)
    const { session } = opened
    expect((await session.recall('port 5433', 5)).matches).toHaveLength(1)
    const next = { id: 'l3', record: { type: 'user', uuid: 'l3', message: { role: 'user', content: 'More.' } } }
    expect(await session.append([next], session.version)).toEqual({ type: 'stored', version: 3 })
    await session.release()
    expect(await recordsIn(store, 'large')).toEqual([...(sessions.large ?? []), next])
    // Includes the session of its sub-agent.
    expect(await store.erase({ user: 'ann' })).toBe(3)
    expect(await store.list()).toEqual([])
    await store.close()
  })
})
