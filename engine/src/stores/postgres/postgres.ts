// Sessions in PostgreSQL, for agents on many machines. Every statement names the tenant.
import { defined } from '../../core/message/json.ts'
import {
  checkNewSessionId,
  type Erasure,
  type ListOptions,
  type SessionInfo,
  type SessionStore,
  StoreError,
} from '../../core/ports/session-store.ts'
import { type Connection, connect, type PostgresPool, sessionTables, type Tables } from './connection.ts'
import { isFree, takeSession } from './held.ts'
import { migrate } from './migrations.ts'
import { recordsFrom, searchByIndex } from './read.ts'

export type PostgresOptions = {
  /** Sessions of one tenant are invisible to others. Default: "default". */
  readonly tenant?: string
  /** The schema of the tables. Default: "everlong". */
  readonly schema?: string
  /** How long a session stays taken after its writer is gone, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number
} & (
  | {
      /** postgres://USER:PASSWORD@HOST:PORT/DATABASE */
      readonly url: string
      /** Maximum number of connections. Default: 5. */
      readonly connections?: number
    }
  /** A `Pool` of `pg`, which you close yourself. */
  | { readonly pool: PostgresPool }
)

export type PostgresStore = SessionStore & {
  /** Connects, and creates or updates the tables, as does every other call. Throws a StoreError with the reason. */
  readonly ready: () => Promise<void>
}

export function postgres(options: PostgresOptions): PostgresStore {
  const { tenant = 'default', schema = 'everlong', leaseMs = 30_000 } = options
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    const why = `"${schema}" cannot be the name of a schema here: use lower-case letters, digits and "_", at most 51 characters.`
    throw new StoreError(why, { reason: 'invalid' })
  }
  if (!(leaseMs > 0)) throw new StoreError('leaseMs must be a number of milliseconds above 0.', { reason: 'invalid' })
  mustBeStorable('tenant', tenant)
  const connection = connect(options, 'url' in options ? (options.connections ?? 5) : 0)
  const ready = readiness(connection, schema)
  const run: Tables['run'] = async (text, values) => {
    await ready()
    return connection.query(text, [tenant, ...values])
  }
  const tables = { schema: `"${schema}"`, tenant, run, leaseMs }
  return {
    ready,
    open: async (id, how) => {
      // Even a copy needs an id that a text column can hold.
      if (how.as === 'new') checkNewSessionId(id, isStorable(id) ? how : {})
      else if (!isStorable(id)) return { type: 'missing' }
      for (const name of ['owner', 'user', 'parent'] as const) mustBeStorable(name, how[name] ?? '-')
      return takeSession(sessionTables(tables, id), how)
    },
    records: async function* (id) {
      if (isStorable(id)) yield* recordsFrom(sessionTables(tables, id))
    },
    search: (words, limit) => searchByIndex(tables, words, limit),
    list: (which = {}) => list(tables, which),
    erase: (which) => erase(tables, which),
    close: connection.close,
  }
}

/** Runs once, and again after a failure. */
function readiness(connection: Connection, schema: string): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= migrate(connection, schema).catch((error: unknown) => {
      done = undefined
      throw error
    })
    return done
  }
}

/** Text that a column cannot hold would otherwise cause a database error halfway. */
function mustBeStorable(what: string, text: string): void {
  if (isStorable(text)) return
  throw new StoreError(`The ${what} must be 1 to 500 characters of well-formed text without NUL.`, {
    reason: 'invalid',
  })
}

function isStorable(text: string): boolean {
  return text !== '' && text.length <= 500 && text.isWellFormed() && !text.includes('\0')
}

async function list({ schema, run }: Tables, { user, after = '', limit = 1_000 }: ListOptions): Promise<SessionInfo[]> {
  if (user !== undefined && !isStorable(user)) return []
  const ofUser = user === undefined ? '' : 'AND user_id = $4'
  const rows = await run(
    `SELECT id, user_id, parent, changed, coalesce(lease_until > clock_timestamp(), false) AS held
     FROM ${schema}.session WHERE tenant = $1 AND id > $2 ${ofUser} ORDER BY id LIMIT $3`,
    [after, limit, ...(user === undefined ? [] : [user])],
  )
  return rows.map(({ id, user_id, parent, changed, held }) => ({
    id: String(id),
    ...defined({ user: text(user_id), parent: text(parent) }),
    changed: new Date(changed instanceof Date ? changed : String(changed)).toISOString(),
    isHeld: held === true,
  }))
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

async function erase({ schema, run }: Tables, which: Erasure): Promise<number> {
  if ('user' in which && !isStorable(which.user)) return 0
  const { condition, value, also } = conditionFor(which)
  const rows = await run(
    `WITH RECURSIVE chosen AS (
       SELECT id FROM ${schema}.session WHERE tenant = $1 AND ${condition}
       UNION SELECT agent.id FROM ${schema}.session AS agent JOIN chosen ON agent.parent = chosen.id
       WHERE agent.tenant = $1
     )
     DELETE FROM ${schema}.session WHERE tenant = $1 AND id IN (SELECT id FROM chosen) AND ${also} RETURNING id`,
    [value],
  )
  return rows.length
}

/** `also` is checked again on each row when it is deleted, because another process may have taken the session since. */
function conditionFor(which: Erasure): { readonly condition: string; readonly value: unknown; readonly also: string } {
  // No session has an id that a text column cannot hold.
  if ('sessions' in which)
    return { condition: 'id = ANY($2::text[])', value: which.sessions.filter(isStorable), also: 'true' }
  if ('user' in which) return { condition: 'user_id = $2', value: which.user, also: 'true' }
  const condition = `changed < clock_timestamp() - $2::float8 * interval '1 day' AND ${isFree}`
  return { condition, value: which.unchangedForDays, also: isFree }
}
