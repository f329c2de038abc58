// Books and heads of a gateway on one machine, in one SQLite file next to the transcripts.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { Books, Row, Sum } from '../books/book.ts'
import type { Heads } from '../identify/heads.ts'

export type State = {
  readonly books: Books
  readonly heads: Heads
  readonly close: () => Promise<void>
}

const columns = [
  ...['time', 'kind', 'tenant', 'key', 'session', 'api', 'upstream', 'model', 'level', 'status', 'input', 'output'],
  ...['cacheRead', 'cacheWrite', 'cacheWriteHour', 'cost', 'cache', 'missCost', 'removed', 'saved', 'ms'],
] as const satisfies readonly (keyof Row)[]

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS head (tenant TEXT, digest TEXT, session TEXT NOT NULL, PRIMARY KEY (tenant, digest)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS tip (tenant TEXT, session TEXT, digest TEXT NOT NULL, PRIMARY KEY (tenant, session)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS request (id INTEGER PRIMARY KEY, ${columns.join(', ')});
  CREATE INDEX IF NOT EXISTS request_session ON request (tenant, session, id);
  CREATE INDEX IF NOT EXISTS request_time ON request (time);
`

export function openState(path: string): State {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const sql = new DatabaseSync(path)
  sql.exec(schema)
  return { books: booksIn(sql), heads: headsIn(sql), close: async () => sql.close() }
}

function headsIn(sql: DatabaseSync): Heads {
  const find = sql.prepare(
    `SELECT head.session, tip.digest AS tip FROM head LEFT JOIN tip ON tip.tenant = head.tenant AND tip.session = head.session
     WHERE head.tenant = ? AND head.digest = ?`,
  )
  const putHead = sql.prepare('INSERT OR REPLACE INTO head VALUES (?, ?, ?)')
  const putTip = sql.prepare('INSERT OR REPLACE INTO tip VALUES (?, ?, ?)')
  return {
    find: async (tenant, digest) => {
      const row = find.get(tenant, digest)
      return row && { session: String(row.session), isTip: row.tip === digest }
    },
    put: async (tenant, digest, session) => {
      putHead.run(tenant, digest, session)
      putTip.run(tenant, session, digest)
    },
  }
}

function booksIn(sql: DatabaseSync): Books {
  const add = sql.prepare(`INSERT INTO request (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
  const newest = sql.prepare(
    'SELECT * FROM request WHERE tenant = ? AND session = ? AND cache IS NOT NULL ORDER BY id DESC LIMIT 1',
  )
  const sums = sql.prepare(`
    SELECT kind, tenant, model, level, cache, count(*) AS requests, sum(status >= 400 OR status = 0) AS failed,
      sum(input) AS input, sum(output) AS output, sum(cacheRead) AS cacheRead, sum(cacheWrite) AS cacheWrite,
      total(cost) AS cost, sum(cost IS NULL) AS unpriced, total(missCost) AS missCost, sum(removed) AS removed, total(saved) AS saved
    FROM request WHERE time >= ? AND (? IS NULL OR tenant = ?)
    GROUP BY kind, tenant, model, level, cache ORDER BY kind, tenant, model, level, cache`)
  return {
    add: async (row) => void add.run(...columns.map((name) => row[name] ?? null)),
    newest: async (tenant, session) => {
      const row = newest.get(tenant, session)
      return row && (withoutNulls(row) as Row)
    },
    sums: async ({ tenant = null, since = 0 }) =>
      sums.all(since, tenant, tenant).map((row) => withoutNulls(row) as unknown as Sum),
  }
}

function withoutNulls(row: Record<string, SQLOutputValue>): object {
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => value !== null && name !== 'id'))
}
