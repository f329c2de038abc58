// Connects to the database with a pool of the host's, or with one that is created from a URL on first use. Each statement is
// alone or part of one transaction, so that a proxy may use a different connection for each transaction.
import { errorText, stringAt } from '../../core/message/json.ts'
import { StoreError, type StoreErrorReason } from '../../core/ports/session-store.ts'

export type Row = Readonly<Record<string, unknown>>

/** The part of `pg` that is used. */
export type PostgresClient = {
  readonly query: (text: string, values?: unknown[]) => Promise<{ readonly rows: Row[] }>
  readonly release: (error?: Error | boolean) => void
  readonly on?: (event: 'error', listener: () => void) => unknown
  readonly off?: (event: 'error', listener: () => void) => unknown
}

/** A `Pool` of `pg`. */
export type PostgresPool = Pick<PostgresClient, 'query'> & {
  readonly connect: () => Promise<PostgresClient>
  readonly end: () => Promise<void>
}

export type Query = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>

/** Needed by every statement. */
export type Tables = {
  /** Quoted, so that it may be an SQL keyword. */
  readonly schema: string
  readonly tenant: string
  /** Runs statements for this tenant; `$1` is the tenant. */
  readonly run: Query
  readonly leaseMs: number
}

/** Tables for one session; `$2` is its id. */
export type SessionTables = Pick<Tables, 'schema' | 'run' | 'leaseMs'> & {
  readonly id: string
  /** The id with the tenant, in the form of the index words. */
  readonly key: string
}

export type Connection = {
  /** Throws a StoreError, with the failure as its cause. */
  readonly query: Query
  /** All statements or none. */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

type Database = { readonly url: string } | { readonly pool: PostgresPool }

export function connect(place: Database, connections: number): Connection {
  const where = 'url' in place ? placeIn(place.url) : 'of the given pool'
  let pool: Promise<PostgresPool> | undefined
  let isClosed = false
  const opened = (): Promise<PostgresPool> => {
    if (isClosed) throw new StoreError('The session store is closed.', { reason: 'closed' })
    pool ??= 'pool' in place ? Promise.resolve(place.pool) : createPool(place.url, connections)
    return pool
  }
  const reporting = async <T>(work: (note: NoteStatement) => Promise<T>): Promise<T> => {
    let statement = ''
    try {
      return await work((text) => {
        statement = text
      })
    } catch (error) {
      throw error instanceof StoreError ? error : storeErrorOf(error, { where, statement })
    }
  }
  return {
    query: (text, values) =>
      reporting(async (note) => {
        note(text)
        return (await (await opened()).query(text, [...values])).rows
      }),
    transaction: (work) => reporting(async (note) => inTransaction(await (await opened()).connect(), work, note)),
    close: async () => {
      if (isClosed) return
      isClosed = true
      // The host closes its own pool.
      if ('url' in place) await (await pool)?.end()
    },
  }
}

/** Remembers the current statement for the message if it fails. */
type NoteStatement = (text: string) => void

async function inTransaction<T>(
  client: PostgresClient,
  work: (query: Query) => Promise<T>,
  note: NoteStatement,
): Promise<T> {
  // Without a listener, a connection that breaks between two statements ends the process. The next statement reports the failure.
  const ignore = () => undefined
  client.on?.('error', ignore)
  try {
    await client.query('BEGIN')
    const result = await work(async (text, values) => {
      note(text)
      return (await client.query(text, [...values])).rows
    })
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // The server rolls back when the connection is closed.
    client.release(true)
    throw error
  } finally {
    client.off?.('error', ignore)
  }
}

async function createPool(url: string, connections: number): Promise<PostgresPool> {
  const { Pool } = await importPg()
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
    application_name: 'everlong',
    allowExitOnIdle: true,
  })
  return unbreakable(pool)
}

type EventfulPool = {
  readonly on: ((event: 'error', listener: () => void) => unknown) &
    ((
      event: 'connect',
      listener: (client: { on: (event: 'error', listener: () => void) => unknown }) => void,
    ) => unknown)
}

/**
 * A broken connection is replaced, and the next statement reports if there is none. Without a listener it would end the process,
 * even in the moment between the pool and the caller that gets it.
 */
export function unbreakable<Pool extends EventfulPool>(pool: Pool): Pool {
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

async function importPg() {
  try {
    return (await import('pg')).default
  } catch (error) {
    throw new StoreError('The package "pg" is missing. Install it: npm install pg', { cause: error })
  }
}

/**
 * Host and database, without user and password. A mistyped URL may have its password anywhere, so a URL is shown only if its
 * parts are clear. They are not if an "@" follows the host.
 */
function placeIn(url: string): string {
  const parsed = /^postgres(ql)?:\/\//.test(url) && URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || parsed.pathname.includes('@')) throw invalidUrl()
  if (parsed.username === '' && `${parsed.search}${parsed.hash}`.includes('@')) throw invalidUrl()
  return `at ${parsed.host || 'localhost'}${parsed.pathname}`
}

function invalidUrl(): StoreError {
  const form = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'
  const advice = 'In USER and PASSWORD, other characters than letters and digits must be percent-encoded.'
  return new StoreError(`The URL of the session store is not one of PostgreSQL: ${form}. ${advice}`, {
    reason: 'invalid',
  })
}

export function sessionTables({ schema, tenant, run, leaseMs }: Tables, id: string): SessionTables {
  return { schema, leaseMs, id, key: `${tenant}\n${id}`, run: (text, values) => run(text, [id, ...values]) }
}

/** Judges by the statement, because the messages of the database may be in any language. */
function missingPermission(statement: string): string {
  const isCreating = /^\s*CREATE\b/.test(statement)
  return isCreating
    ? 'does not permit creating the tables. Grant the role CREATE on the database, or create the schema and grant CREATE on it.'
    : 'does not permit this. Grant the role USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, and USAGE on its sequence.'
}

/** SQLSTATE codes and classes, and codes of the system. */
const temporary =
  /^(08|57P0|40001|40P01|53|55P03|25006|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOENT)/

/** `pg` gives these no code. */
const temporaryWords = /connection terminated|timeout|connection ended|client was closed|not queryable/i

type Place = { readonly where: string; readonly statement: string }

/** A failure of the database, explained to a person and a program. */
function storeErrorOf(error: unknown, { where, statement }: Place): StoreError {
  // These carry the URL with its password.
  if (error instanceof URIError || stringAt(error, 'code') === 'ERR_INVALID_URL') return invalidUrl()
  const first = firstOf(error)
  const code = stringAt(first, 'code') ?? ''
  const text = errorText(first)
  const failed = (why: string, reason: StoreErrorReason, cause = error) =>
    new StoreError(`PostgreSQL ${where} ${why}`, { reason, cause })
  if (/^28/.test(code)) {
    // The message of a refused login names the user, which in a mistyped URL may be part of the password.
    const cause = Object.assign(new Error('The login was refused.'), { code })
    return failed(`refused the login. Check user and password in the URL. (${code})`, 'denied', cause)
  }
  if (code === '42501') return failed(`${missingPermission(statement)} (${text})`, 'denied')
  if (code === '3D000') return failed(`has no such database. Create it, or correct the URL. (${text})`, 'invalid')
  if (code === '53100') return failed(`has no disk space left. (${text})`, 'unavailable')
  const whole = `${text}${code ? ` (${code})` : ''}.`
  const isTemporary = temporary.test(code) || (code === '' && temporaryWords.test(text))
  if (isTemporary) return failed(`cannot be reached or is busy: ${whole}`, 'unavailable')
  return failed(`reported: ${whole}`, 'failed')
}

/** A host with several addresses fails with one error per address. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? stringAt(error.cause, 'code') : undefined
}
