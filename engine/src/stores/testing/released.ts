// A database of an earlier version: its tables and the rows of three sessions, as data. Run
// `node engine/src/stores/testing/released.ts` to freeze one when a migration is added, so that every later version can be tested
// on it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../core/message/json.ts'
import type { SessionStore, StoredRecord } from '../../core/ports/session-store.ts'
import { sessionMigrations } from '../postgres/migrations.ts'
import { postgresForTests, type TestServer } from './postgres-server.ts'

export type Released = {
  /** The statements of all migrations up to this version, for the schema `$schema`. */
  readonly statements: readonly string[]
  /** Rows by table, in the order in which they can be inserted. */
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  /** The stored records by session. */
  readonly sessions: Readonly<Record<string, readonly StoredRecord[]>>
}

const folder = join(import.meta.dirname, '..', 'postgres', 'released')
const tables = ['session', 'entry', 'blob'] as const

const sessions: Released['sessions'] = {
  long: [
    said('u1', 'Never drop the table orders_2019.'),
    recorded('b1', { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted' }),
    said('u2', 'This session is being continued. The user asked never to drop the table orders_2019.', 'b1'),
    said('u3', 'Go on with the migration.', 'u2'),
  ],
  // Long texts are stored separately, in the table of blobs.
  large: [said('l1', `The port is 5433. ${'Lorem ipsum dolor sit amet. '.repeat(400)}`), said('l2', 'Thanks.')],
  'long/agent-1': [said('a1', 'Look at the logs.')],
}

function said(uuid: string, content: string, parentUuid: string | null = null): StoredRecord {
  return recorded(uuid, { type: 'user', parentUuid, message: { role: 'user', content } })
}

function recorded(uuid: string, fields: JsonObject): StoredRecord {
  return { id: uuid, record: { parentUuid: null, ...fields, uuid, timestamp: '2026-01-01T00:00:00.000Z' } }
}

export function readReleased(version: number): Released {
  return JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8'))
}

/** Creates the tables and rows of that version. */
export async function restoreReleased(server: TestServer, version: number, schema: string): Promise<void> {
  const { statements, rows } = readReleased(version)
  for (const statement of statements) await server.query(statement.replaceAll('$schema', schema))
  for (const [table, values] of Object.entries(rows)) {
    const insert = `INSERT INTO ${schema}.${table} SELECT * FROM json_populate_recordset(null::${schema}.${table}, $1)`
    await server.query(insert, [JSON.stringify(values)])
  }
}

async function freeze(server: TestServer): Promise<void> {
  const schema = 'frozen'
  const store = server.store({ schema })
  for (const [id, records] of Object.entries(sessions)) await write(store, id, records)
  await store.close()
  const rows: Record<string, readonly Readonly<Record<string, unknown>>[]> = {}
  for (const table of tables) {
    const found = await server.query(`SELECT row_to_json(each) AS row FROM ${schema}.${table} AS each`)
    rows[table] = found.map(({ row }) => row as Readonly<Record<string, unknown>>)
  }
  const statements = [
    'CREATE SCHEMA $schema',
    'CREATE TABLE $schema.migration (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT clock_timestamp())',
    ...sessionMigrations.flatMap((each, at) => [...each, `INSERT INTO $schema.migration (version) VALUES (${at + 1})`]),
  ]
  const path = join(folder, `${sessionMigrations.length}.json`)
  writeFileSync(path, `${JSON.stringify({ statements, rows, sessions } satisfies Released, null, 1)}\n`, { flag: 'wx' })
  console.log(`Wrote ${path}`)
}

async function write(store: SessionStore, id: string, records: readonly StoredRecord[]): Promise<void> {
  const parent = id.includes('/') ? { parent: id.slice(0, id.indexOf('/')) } : { user: 'ann' }
  const opened = await store.open(id, { as: 'new', isCopy: true, ...parent })
  if (opened.type !== 'opened') throw new Error(`${id}: ${opened.type}`)
  const result = await opened.session.append(records, 0)
  if (result.type !== 'stored') throw new Error(`${id}: ${result.type}`)
  await opened.session.release()
}

if (process.argv[1] === import.meta.filename) {
  const server = await postgresForTests()
  if (server) await freeze(server).finally(server.stop)
}
