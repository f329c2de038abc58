// The state of a gateway on one machine, in one SQLite file next to the transcripts.
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Books, Sum } from '../books/book.ts'
import { decide, type Heads } from '../identify/heads.ts'
import { makeFolder } from './folder.ts'
import { type Notes, rowColumns, type State, withoutNulls } from './state.ts'

/** Only ever extended at the end: a file stores how many were applied. */
const migrations: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS head (tenant TEXT, digest TEXT, session TEXT NOT NULL, PRIMARY KEY (tenant, digest)) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS tip (tenant TEXT, session TEXT, digest TEXT NOT NULL, PRIMARY KEY (tenant, session)) WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS request (id INTEGER PRIMARY KEY, time, kind, tenant, key, session, api, upstream, model, level,
     status, input, output, cacheRead, cacheWrite, cacheWriteHour, cost, cache, missCost, removed, saved, ms);
   CREATE INDEX IF NOT EXISTS request_session ON request (tenant, session, id);
   CREATE INDEX IF NOT EXISTS request_time ON request (time);`,
  `ALTER TABLE tip ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX head_session ON head (tenant, session);
   ALTER TABLE request RENAME TO old_request;
   DROP INDEX request_session;
   DROP INDEX request_time;
   CREATE TABLE request (nth INTEGER PRIMARY KEY, ${rowColumns.join(', ')}, UNIQUE (id));
   INSERT INTO request SELECT id, 'row-' || id, time, kind, tenant, key, NULL, session, api, upstream, model, level, status, input, output,
     cacheRead, cacheWrite, cacheWriteHour, cost, cache, missCost, removed, saved, ms FROM old_request;
   DROP TABLE old_request;
   CREATE INDEX request_session ON request (tenant, session, nth);
   CREATE INDEX request_time ON request (time);
   CREATE INDEX request_user ON request (tenant, user) WHERE user IS NOT NULL;
   CREATE TABLE note (tenant TEXT, session TEXT, kind TEXT, text TEXT NOT NULL, PRIMARY KEY (tenant, session, kind)) WITHOUT ROWID;`,
]

/** Throws a system error if the folder cannot be created. */
export function openState(path: string): State {
  if (path !== ':memory:') makeFolder(dirname(path))
  const sql = new DatabaseSync(path)
  sql.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;')
  migrate(sql)
  const run = (text: string, ...values: readonly SQLInputValue[]) => Number(sql.prepare(text).run(...values).changes)
  const inList = (sessions: readonly string[]) => [JSON.stringify(sessions)] as const
  return {
    ...{ books: booksIn(sql), heads: headsIn(sql), notes: notesIn(sql) },
    tenants: async () =>
      sql
        .prepare('SELECT DISTINCT tenant FROM request ORDER BY tenant')
        .all()
        .map(({ tenant }) => String(tenant)),
    sessionsOf: async (tenant, user) =>
      sql
        .prepare('SELECT DISTINCT session FROM request WHERE tenant = ? AND user = ? ORDER BY session')
        .all(tenant, user)
        .map(({ session }) => String(session)),
    forget: async (tenant, sessions) =>
      ['head', 'tip', 'note'].reduce(
        (sum, table) =>
          sum +
          run(
            `DELETE FROM ${table} WHERE tenant = ? AND session IN (SELECT value FROM json_each(?))`,
            tenant,
            ...inList(sessions),
          ),
        0,
      ),
    anonymize: async (tenant, user) =>
      run(`UPDATE request SET user = NULL, key = '', session = '' WHERE tenant = ? AND user = ?`, tenant, user),
    expire: async ({ tenant, before }) => run('DELETE FROM request WHERE tenant = ? AND time < ?', tenant, before),
    close: async () => sql.close(),
  }
}

function migrate(sql: DatabaseSync): void {
  const version = () => Number(sql.prepare('PRAGMA user_version').get()?.user_version ?? 0)
  if (version() >= migrations.length) return
  // Another process may be doing the same.
  sql.exec('BEGIN IMMEDIATE')
  for (const statements of migrations.slice(version())) sql.exec(statements)
  sql.exec(`PRAGMA user_version = ${migrations.length}; COMMIT;`)
}

function headsIn(sql: DatabaseSync): Heads {
  const find = sql.prepare(
    `SELECT head.digest, head.session, tip.digest AS tip, tip.depth FROM head
     LEFT JOIN tip ON tip.tenant = head.tenant AND tip.session = head.session
     WHERE head.tenant = ? AND head.digest IN (SELECT value FROM json_each(?))`,
  )
  const putHead = sql.prepare('INSERT INTO head VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const putTip = sql.prepare(
    `INSERT INTO tip (tenant, session, digest, depth) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET digest = excluded.digest, depth = excluded.depth WHERE excluded.depth >= tip.depth`,
  )
  return {
    claim: async (claim) => {
      const { tenant, places } = claim
      const rows = find.all(tenant, JSON.stringify(places.map(({ digest }) => digest)))
      const known = rows.map(({ digest, session, tip, depth }) => ({
        ...{ digest: String(digest), session: String(session) },
        tip: tip === null ? undefined : { digest: String(tip), depth: Number(depth) },
      }))
      const { added, ...claimed } = decide(claim, known)
      for (const { digest } of added) putHead.run(tenant, digest, claimed.session)
      return claimed
    },
    answered: async (tenant, session, { digest, depth }) => {
      putHead.run(tenant, digest, session)
      putTip.run(tenant, session, digest, depth)
    },
  }
}

function notesIn(sql: DatabaseSync): Notes {
  const get = sql.prepare('SELECT text FROM note WHERE tenant = ? AND session = ? AND kind = ?')
  const put = sql.prepare('INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?)')
  const remove = sql.prepare('DELETE FROM note WHERE tenant = ? AND session = ? AND kind = ?')
  return {
    get: async (tenant, session, kind) => {
      const row = get.get(tenant, session, kind)
      return row && String(row.text)
    },
    put: async (tenant, session, kind, text) => void put.run(tenant, session, kind, text),
    remove: async (tenant, session, kind) => void remove.run(tenant, session, kind),
  }
}

function booksIn(sql: DatabaseSync): Books {
  const add = sql.prepare(
    `INSERT INTO request (${rowColumns.join(', ')}) VALUES (${rowColumns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
  )
  const sums = sql.prepare(`
    SELECT kind, tenant, model, level, cache, count(*) AS requests, sum(status >= 400 OR status = 0) AS failed,
      sum(input) AS input, sum(output) AS output, sum(cacheRead) AS cacheRead, sum(cacheWrite) AS cacheWrite,
      total(cost) AS cost, sum(cost IS NULL) AS unpriced, total(missCost) AS missCost, sum(removed) AS removed, total(saved) AS saved
    FROM request WHERE time >= ? AND (? IS NULL OR tenant = ?)
    GROUP BY kind, tenant, model, level, cache ORDER BY kind, tenant, model, level, cache`)
  return {
    add: async (row) => void add.run(...rowColumns.map((name) => row[name] ?? null)),
    sums: async ({ tenant = null, since = 0 }) =>
      sums.all(since, tenant, tenant).map((row) => withoutNulls(row) as unknown as Sum),
  }
}
