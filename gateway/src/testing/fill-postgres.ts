// Tables of a gateway in PostgreSQL with many rows, made by the database itself: for tests and benchmarks of growth.
import { connect } from 'everlong/internal/node'
import { postgres } from 'everlong/postgres'
import pg from 'pg'
import { postgresState } from '../state/postgres.ts'

export const growthSchema = 'growth'
/** Messages of a conversation. */
const perSession = 40

/** The server may stop before the last connection is closed. */
export function unlessStopped(pool: pg.Pool): pg.Pool {
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

/** Rows in the books, heads and records of sessions, spread over ten tenants and 30 days. */
export async function fillPostgres(url: string, rows: number, schema = growthSchema): Promise<void> {
  const pool = unlessStopped(new pg.Pool({ connectionString: url, max: 1 }))
  await postgresState(connect({ pool }, 0), `${schema}_gateway`).ready()
  const store = postgres({ url, schema, tenant: 't0' })
  await store.list({})
  await store.close()
  const numbers = `generate_series(0, ${rows - 1}) AS i`
  const session = `'s' || (i / ${perSession * 10})`
  const tenant = `'t' || (i % 10)`
  const start = Date.now() - 30 * 86_400_000
  const time = `${start} + i::bigint * ${Math.floor((30 * 86_400_000) / rows)}`
  const gateway = `${schema}_gateway`
  const body = `'{"uuid":"e' || i || '","type":"user","message":{"role":"user","content":"word ' || i || '"}}'`
  // Foreign keys are not checked row by row.
  const statements = [
    `SET session_replication_role = replica`,
    `INSERT INTO ${gateway}.head SELECT ${tenant}, 'd' || i, ${session} FROM ${numbers}`,
    `INSERT INTO ${gateway}.tip SELECT ${tenant}, ${session}, max('d' || i), ${perSession} FROM ${numbers} GROUP BY 1, 2`,
    `INSERT INTO ${gateway}.note SELECT ${tenant}, 's' || i, 'watch', '{}' FROM ${numbers}`,
    `INSERT INTO ${gateway}.request ("id", "time", "kind", "tenant", "key", "user", "session", "api", "upstream", "model", "level", "status", "input",
       "output", "cacheRead", "cacheWrite", "cacheWriteHour", "cost", "cache", "removed", "ms")
     SELECT 'r' || i, ${time}, 'client', ${tenant}, 'k', 'user' || (i % 5000), ${session}, 'messages', 'u', 'claude-opus-5', 'observe', 200, 10, 40,
       20000, 500, 0, 0.01, 'hit', 0, 900 FROM ${numbers}`,
    `INSERT INTO ${schema}.session (tenant, id, head, fence) SELECT ${tenant}, ${session}, count(*), 1 FROM ${numbers} GROUP BY 1, 2`,
    `INSERT INTO ${schema}.entry (tenant, session, seq, id, boundary, body, cuts, words)
     SELECT ${tenant}, ${session}, (i / 10) % ${perSession} + 1, 'e' || i, false, ${body}, '[]', ''::tsvector FROM ${numbers}`,
    `SET session_replication_role = DEFAULT`,
    `ANALYZE`,
  ]
  for (const statement of statements) await pool.query(statement)
  await pool.end()
}
