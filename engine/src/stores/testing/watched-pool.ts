// Pools for tests: one records every statement, one loses answers, one behaves like a proxy that gives each transaction any free
// connection.
import pg from 'pg'
import type { PostgresPool, Row } from '../postgres/connection.ts'

export type Statement = { readonly text: string; readonly values: readonly unknown[]; readonly rows: number }

export type WatchedPool = PostgresPool & { readonly statements: Statement[] }

type Rows = { rows: Row[] }

export function watchedPool(url: string): WatchedPool {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  const statements: Statement[] = []
  const query = async (text: string, values: unknown[] = []): Promise<Rows> => {
    const result: Rows = await pool.query(text, values)
    statements.push({ text, values, rows: result.rows.length })
    return result
  }
  return { statements, query, connect: () => pool.connect(), end: () => pool.end() }
}

/** Every statement that `isLost` selects is run, but its answer never arrives. */
export function losingPool(url: string, isLost: (text: string) => boolean): PostgresPool {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  const query = async (text: string, values: unknown[] = []): Promise<Rows> => {
    const result: Rows = await pool.query(text, values)
    if (!isLost(text)) return result
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  }
  return { query, connect: () => pool.connect(), end: () => pool.end() }
}

/** Each transaction gets another connection, and a connection keeps no state between transactions. */
export function pooledByProxy(url: string): PostgresPool {
  const pools = Array.from({ length: 3 }, () => new pg.Pool({ connectionString: url, max: 2 }))
  let turn = 0
  const next = () => pools[turn++ % pools.length]?.connect() ?? Promise.reject(new Error('no pool'))
  return {
    query: async (text, values) => {
      const client = await next()
      try {
        return (await client.query(text, values)) as Rows
      } finally {
        await client.query('DISCARD ALL')
        client.release()
      }
    },
    connect: next,
    end: async () => {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}
