// What each request needs of the books and the heads of conversations, as their tables grow: on one machine, in SQLite.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStores } from '@everlong/gateway'

export type Growth = {
  readonly rows: number
  /** Milliseconds in the middle of many. */
  readonly claim: number
  readonly addRow: number
  /** The report of a tenant over a day. */
  readonly report: number
  /** Of the file. */
  readonly megabytes: number
}

export const rowCounts = [10, 10_000, 1_000_000] as const

export async function measureGrowth(folder: string): Promise<readonly Growth[]> {
  const measured: Growth[] = []
  for (const rows of rowCounts) measured.push(await measure(join(folder, `rows-${rows}`), rows))
  return measured
}

const tenants = 10

async function measure(data: string, rows: number): Promise<Growth> {
  mkdirSync(data, { recursive: true })
  const config = { data, store: undefined }
  const log = () => undefined
  // Creates the tables.
  await openStores(config, log).close()
  fill(join(data, 'gateway.db'), rows)
  const { state, close } = openStores(config, log)
  const repeats = 200
  const claims: number[] = []
  const adds: number[] = []
  for (let at = 0; at < repeats; at++) {
    // A conversation of 40 messages: 38 are known, two are new.
    const known = (at * 7_919) % rows
    const places = Array.from({ length: 40 }, (_, depth) => ({
      ...{ digest: depth < 38 ? digestOf((known + depth) % rows) : `new-${at}-${depth}`, depth: depth + 1 },
    }))
    claims.push(await timed(() => state.heads.claim({ tenant: `t${at % tenants}`, places, newId: () => `n${at}` })))
    adds.push(await timed(() => state.books.add(rowOf(at))))
  }
  const reports: number[] = []
  for (let at = 0; at < 5; at++) {
    reports.push(await timed(() => state.books.sums({ tenant: 't1', since: Date.now() - 86_400_000 })))
  }
  await close()
  const sql = new DatabaseSync(join(data, 'gateway.db'))
  const size = sql.prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()').get()
  sql.close()
  const megabytes = Number(size?.bytes) / 1e6
  return { rows, claim: middle(claims), addRow: middle(adds), report: middle(reports), megabytes }
}

const digestOf = (at: number) => `d${at}`

/** A row for each head, spread over ten tenants and a month. */
function fill(path: string, rows: number): void {
  const sql = new DatabaseSync(path)
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})`
  const tenant = `'t' || (i % ${tenants})`
  const start = Date.now() - 30 * 86_400_000
  const time = `${start} + i * ${Math.floor((30 * 86_400_000) / rows)}`
  sql.exec(`BEGIN;
    INSERT INTO head ${numbers} SELECT ${tenant}, 'd' || i, 's' || (i / 40) FROM n;
    INSERT OR REPLACE INTO tip (tenant, session, digest, depth) ${numbers} SELECT ${tenant}, 's' || (i / 40), 'd' || i, 40 FROM n;
    INSERT INTO request (id, time, kind, tenant, key, session, api, upstream, model, level, status, input, output, cacheRead, cacheWrite,
      cacheWriteHour, cost, cache, removed, ms) ${numbers} SELECT 'r' || i, ${time}, 'client', ${tenant}, 'k', 's' || (i / 40), 'messages', 'u',
      'claude-opus-5', 'observe', 200, 10, 40, 20000, 500, 0, 0.01, 'hit', 0, 900 FROM n;
    COMMIT`)
  sql.close()
}

export function rowOf(at: number) {
  return {
    ...{
      id: `bench-${at}`,
      time: Date.now(),
      kind: 'client' as const,
      tenant: `t${at % tenants}`,
      key: 'k',
      user: undefined,
    },
    ...{
      session: `s${at}`,
      api: 'messages' as const,
      upstream: 'u',
      model: 'claude-opus-5',
      level: 'observe' as const,
      status: 200,
    },
    ...{
      input: 10,
      output: 40,
      cacheRead: 20_000,
      cacheWrite: 500,
      cacheWriteHour: 0,
      cost: 0.01,
      cache: 'hit' as const,
    },
    ...{ missCost: undefined, removed: 0, saved: undefined, ms: 900 },
  }
}

export async function timed(task: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await task()
  return performance.now() - start
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
