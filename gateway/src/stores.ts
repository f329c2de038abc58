// Storage of a gateway: in a folder, for one process, or in PostgreSQL, for several.
import { join } from 'node:path'
import { connect, unbreakable } from 'everlong/internal/node'
import { jsonlSessions } from 'everlong/node'
import { postgres } from 'everlong/postgres'
import type { SessionStore } from 'everlong/stores'
import pg from 'pg'
import { ConfigError } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { createCipher } from './encryption/cipher.ts'
import { encryptedSessions } from './encryption/sessions.ts'
import { type JobOptions, type Jobs, jobsInPostgres, jobsInProcess } from './jobs/jobs.ts'
import type { Log } from './log.ts'
import { alwaysThere, type StoreHealth, watchStore } from './state/health.ts'
import { postgresState } from './state/postgres.ts'
import { openState } from './state/sqlite.ts'
import type { State } from './state/state.ts'

export type StoreOf = (tenant: string) => SessionStore

export type Stores = {
  /** The sessions of a tenant. */
  readonly storeOf: StoreOf
  /** The engine's sessions of level 3. */
  readonly managedStoreOf: StoreOf
  readonly state: State
  readonly health: StoreHealth
  /** Other processes write the same sessions. */
  readonly isShared: boolean
  readonly isEncrypted: boolean
  readonly startJobs: (options: JobOptions) => Jobs
  /** Connects, and creates missing tables. Throws if that is impossible. */
  readonly ready: () => Promise<void>
  readonly close: () => Promise<void>
}

export function openStores(
  { data, store, encryption }: Pick<Config, 'data' | 'store' | 'encryption'>,
  log: Log,
): Stores {
  const stores = store ? inPostgres(store, log) : inFolder(data)
  if (!encryption) return stores
  const cipher = createCipher(encryption.keys)
  const encrypted = (storeOf: StoreOf) => perTenant((tenant) => encryptedSessions(storeOf(tenant), cipher))
  return {
    ...stores,
    ...{ storeOf: encrypted(stores.storeOf), managedStoreOf: encrypted(stores.managedStoreOf), isEncrypted: true },
  }
}

function inFolder(data: string): Stores {
  const state = stateIn(data)
  const folder = (name: string) => perTenant((tenant) => jsonlSessions({ folder: join(data, name, tenant) }))
  return {
    ...{ storeOf: folder('sessions'), managedStoreOf: folder('managed'), state, health: alwaysThere },
    ...{ isShared: false, isEncrypted: false },
    startJobs: jobsInProcess,
    ready: async () => undefined,
    close: () => state.close(),
  }
}

function stateIn(data: string): State {
  try {
    return openState(join(data, 'gateway.db'))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`data: ${data} cannot be the folder of the gateway: ${why}`)
  }
}

function inPostgres({ postgres: url, schema, connections, leaseMs }: NonNullable<Config['store']>, log: Log): Stores {
  const pool = poolFor(url, connections)
  // A connection of its own, because the others may all be busy.
  const probing = poolFor(url, 1)
  const state = postgresState(connect({ pool }, 0), `${schema}_gateway`)
  const sessionsIn = (name: string) => perTenant((tenant) => postgres({ pool, tenant, schema: name, leaseMs }))
  const [storeOf, managedStoreOf] = [sessionsIn(schema), sessionsIn(`${schema}_managed`)]
  const health = watchStore({ log, probe: () => probe(probing) })
  return {
    ...{ storeOf, managedStoreOf, state, health, isShared: true, isEncrypted: false },
    startJobs: (options) => jobsInPostgres({ ...options, pool, health, schema: `${schema}_jobs` }),
    ready: async () => {
      await state.ready()
      await postgres({ pool, schema }).ready()
      await postgres({ pool, schema: `${schema}_managed` }).ready()
    },
    close: async () => {
      health.close()
      await Promise.all([pool.end(), probing.end()])
    },
  }
}

const probeMs = 3_000

async function probe(pool: pg.Pool): Promise<void> {
  // Also checks that it can write, because a standby server cannot.
  const answer = { text: 'SELECT pg_is_in_recovery() AS "isReadOnly"', query_timeout: probeMs } as pg.QueryConfig
  const { rows } = await pool.query<{ readonly isReadOnly: boolean }>(answer)
  if (rows[0]?.isReadOnly) throw new Error('The database is read-only.')
}

function poolFor(url: string, max: number): pg.Pool {
  return unbreakable(
    new pg.Pool({
      ...{ connectionString: url, max, connectionTimeoutMillis: 3_000, query_timeout: 30_000 },
      ...{ application_name: 'everlong gateway', allowExitOnIdle: true },
    }),
  )
}

function perTenant(make: StoreOf): StoreOf {
  const stores = new Map<string, SessionStore>()
  return (tenant) => {
    const store = stores.get(tenant) ?? make(tenant)
    stores.set(tenant, store)
    return store
  }
}
