// The archive's database: a full-text index without the texts, and the file and position of each text. It is a cache: rebuilt if
// broken or of another version, kept in memory if it cannot be written.
import { closeSync, openSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { numberAt, stringAt } from '../../core/message/json.ts'
import { diskProblem, nodeDisk } from '../write/disk.ts'

/** Raise it with every change of the tables or their contents. */
const version = 4

/**
 * A row for each piece of a record, and one without a kind for a record without text. A call's id is unique within its
 * session, including sub-agents and stored results: the call and its result may be in different files. `sources.bytes`
 * is the end of the last whole line; pieces after it are removed when the file grows. `texts` counts the pieces up to
 * there, and `place` is a piece's number among them.
 */
const schema = `
  CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, format TEXT NOT NULL,
    size INTEGER NOT NULL, modified REAL NOT NULL, bytes INTEGER NOT NULL, lines INTEGER NOT NULL,
    epoch INTEGER NOT NULL, texts INTEGER NOT NULL, mark TEXT NOT NULL);
  CREATE TABLE pieces (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
    length INTEGER NOT NULL, nth INTEGER NOT NULL, part INTEGER NOT NULL, uuid TEXT, message TEXT,
    epoch INTEGER NOT NULL, time INTEGER, sidechain INTEGER NOT NULL, piece INTEGER NOT NULL, kind TEXT, call INTEGER,
    characters INTEGER NOT NULL, place INTEGER NOT NULL);
  CREATE INDEX pieces_by_place ON pieces (source, line);
  CREATE INDEX pieces_by_uuid ON pieces (uuid) WHERE uuid IS NOT NULL;
  CREATE INDEX pieces_by_message ON pieces (message) WHERE message IS NOT NULL;
  CREATE INDEX pieces_by_call ON pieces (call) WHERE call IS NOT NULL;
  CREATE TABLE calls (id INTEGER PRIMARY KEY, session TEXT NOT NULL, tool_use_id TEXT NOT NULL, tool TEXT,
    UNIQUE (tool_use_id, session));
  CREATE INDEX calls_by_tool ON calls (tool);
  CREATE TABLE touched (path TEXT NOT NULL, call INTEGER NOT NULL, PRIMARY KEY (path, call)) WITHOUT ROWID;
  CREATE INDEX touched_by_call ON touched (call);
  CREATE TABLE skipped (source INTEGER NOT NULL, line INTEGER NOT NULL, reason TEXT NOT NULL);
  CREATE TABLE vectors (piece INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 2");
  PRAGMA user_version = ${version};
`

/** Another process writes in steps of about a second. */
const busyTimeoutMs = 60_000

/** In memory if there is no place or the place cannot be used. */
export function openDatabase(place: string | undefined): DatabaseSync {
  const onDisk = place === undefined ? undefined : openOnDisk(place)
  if (onDisk !== undefined) return onDisk
  const sql = connect(':memory:')
  sql.exec(schema)
  return sql
}

/** While two processes create the same database, SQLite reports "busy" without waiting. */
const openAttempts = 200

function openOnDisk(place: string): DatabaseSync | undefined {
  let isDiscarded = false
  for (let attempt = 0; attempt < openAttempts; attempt++) {
    try {
      nodeDisk.makeFolder(dirname(place))
      // SQLite would make it readable for others; its helper files get the same mode.
      closeSync(openSync(place, 'a', 0o600))
      const sql = connectTo(place)
      if (sql !== undefined) return sql
    } catch (error) {
      if (codeOf(error) === busy) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
        continue
      }
      // A read-only home or a full disk costs time, not results.
      if (!isDatabaseError(error)) diskProblem(error)
      if (!isBroken(error)) return undefined
    }
    if (isDiscarded) return undefined
    discardDatabase(place)
    isDiscarded = true
  }
  return undefined
}

/** Undefined if its tables are of another version. */
function connectTo(place: string): DatabaseSync | undefined {
  const sql = connect(place)
  let isUsable = false
  try {
    sql.exec('PRAGMA journal_mode = wal; PRAGMA synchronous = normal; BEGIN IMMEDIATE')
    const found = sql.prepare('PRAGMA user_version').get()?.user_version
    if (found === 0) sql.exec(schema)
    sql.exec('COMMIT')
    isUsable = found === 0 || found === version
    return isUsable ? sql : undefined
  } finally {
    if (!isUsable) sql.close()
  }
}

function connect(place: string): DatabaseSync {
  if (!hasSqlite()) {
    throw new Error(`The archive needs the SQLite of Node 22.16 or later; this is Node ${process.versions.node}.`)
  }
  // Loaded when it is needed: older versions of Node 22 print a warning when they load it.
  const sql = isBun ? connectInBun(place) : new (process.getBuiltinModule('node:sqlite').DatabaseSync)(place)
  sql.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA cache_size = -65536; PRAGMA temp_store = memory`)
  return sql
}

const isBun = process.versions.bun !== undefined

/** False on Node 20. */
export function hasSqlite(): boolean {
  return isBun || isBuiltin('node:sqlite')
}

type BunSqlite = { readonly Database: new (place: string) => DatabaseSync & { readonly inTransaction: boolean } }

/** Bun has no `node:sqlite`, but nearly the same under another name. Only what the archive uses is adapted. */
function connectInBun(place: string): DatabaseSync {
  const find = process.getBuiltinModule as (name: string) => unknown
  const database = new (find('bun:sqlite') as BunSqlite).Database(place)
  const adapted: Pick<DatabaseSync, 'exec' | 'prepare' | 'close' | 'isTransaction'> = {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql)
      const get = (...values: SQLInputValue[]) => statement.get(...values) ?? undefined
      return { get, all: (...values: SQLInputValue[]) => statement.all(...values) } as StatementSync
    },
    close: () => database.close(),
    get isTransaction() {
      return database.inTransaction
    },
  }
  return adapted as DatabaseSync
}

export function discardDatabase(place: string): void {
  for (const ending of ['-wal', '-shm', '']) rmSync(`${place}${ending}`, { force: true })
}

export function isDatabaseError(error: unknown): boolean {
  return codeOf(error) !== undefined
}

/** A broken database, as opposed to a full disk or a busy one. */
export function isBroken(error: unknown): boolean {
  return [unexpectedTables, corrupt, notADatabase].some((code) => code === codeOf(error))
}

const [unexpectedTables, busy, corrupt, tooBig, notADatabase] = [1, 5, 11, 18, 26]

/** The number of an error of SQLite. Node calls it `errcode`, Bun `errno`. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const code = error.name === 'SQLiteError' ? numberAt(error, 'errno') : numberAt(error, 'errcode')
  return code === undefined ? undefined : code & 0xff
}

export function inTransaction<T>(sql: DatabaseSync, run: () => T): T {
  sql.exec('BEGIN IMMEDIATE')
  try {
    const result = run()
    sql.exec('COMMIT')
    return result
  } catch (error) {
    if (sql.isTransaction) sql.exec('ROLLBACK')
    throw error
  }
}

/** The text is too long or nested too deeply. Reading it again does not help. Other errors are thrown. */
export function sizeProblem(error: unknown): string {
  if (isTooMuch(error)) return error.message
  throw error
}

/** Includes disk errors. */
export function contentProblem(error: unknown): string {
  return isTooMuch(error) ? error.message : diskProblem(error).message
}

function isTooMuch(error: unknown): error is Error {
  if (error instanceof RangeError) return true
  return codeOf(error) === tooBig || stringAt(error, 'code') === 'ERR_STRING_TOO_LONG'
}
