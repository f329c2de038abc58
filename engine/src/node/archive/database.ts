// The archive's database: a full-text index without the texts, and where each text is in which file. It is a cache:
// rebuilt if broken or of another version, kept in memory if it cannot be written.
import { closeSync, openSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { diskProblem, nodeDisk } from '../write/disk.ts'
import { bunSqlite, openBunDatabase } from './bun-sqlite.ts'

export type Database = {
  readonly sql: DatabaseSync
  readonly kept: 'on-disk' | 'in-memory'
}

/** Raise it with every change of the tables or their contents. */
const version = 2

/**
 * Tool names and paths repeat, so they are stored once, as names. A call's id is unique within its session, including
 * sub-agents and stored results: the call and its result may be in different files. `sources.bytes` is the end of the
 * last whole line; entries after it are removed when the file grows.
 */
const schema = `
  CREATE TABLE sources (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, format TEXT NOT NULL,
    size INTEGER NOT NULL, modified REAL NOT NULL, bytes INTEGER NOT NULL, lines INTEGER NOT NULL,
    epoch INTEGER NOT NULL, mark TEXT NOT NULL);
  CREATE TABLE entries (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, line INTEGER NOT NULL,
    offset INTEGER NOT NULL, length INTEGER NOT NULL, nth INTEGER NOT NULL, part INTEGER NOT NULL,
    uuid TEXT, message TEXT);
  CREATE INDEX entries_by_place ON entries (source, line);
  CREATE INDEX entries_by_uuid ON entries (uuid) WHERE uuid IS NOT NULL;
  CREATE INDEX entries_by_message ON entries (message) WHERE message IS NOT NULL;
  CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
  CREATE TABLE calls (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, tool_use_id TEXT NOT NULL, tool INTEGER,
    UNIQUE (tool_use_id, session));
  CREATE TABLE touched (path INTEGER NOT NULL, call INTEGER NOT NULL, PRIMARY KEY (path, call)) WITHOUT ROWID;
  CREATE INDEX touched_by_call ON touched (call);
  CREATE TABLE pieces (id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, nth INTEGER NOT NULL, kind INTEGER NOT NULL,
    call INTEGER, epoch INTEGER NOT NULL, time INTEGER, sidechain INTEGER NOT NULL, length INTEGER NOT NULL);
  CREATE INDEX pieces_by_entry ON pieces (entry);
  CREATE INDEX pieces_by_call ON pieces (call) WHERE call IS NOT NULL;
  CREATE TABLE skipped (source INTEGER NOT NULL, line INTEGER NOT NULL, reason TEXT NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 2");
  PRAGMA user_version = ${version};
`

/** Another process writes in steps of about a second. */
const busyTimeoutMs = 60_000

/** In memory if there is no place or it cannot be used. */
export function openDatabase(place: string | undefined): Database {
  const onDisk = place === undefined ? undefined : openOnDisk(place)
  if (onDisk !== undefined) return { sql: onDisk, kept: 'on-disk' }
  const sql = connect(':memory:')
  sql.exec(schema)
  return { sql, kept: 'in-memory' }
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
  const bun = bunSqlite()
  if (!hasSqlite()) {
    throw new Error(`The archive needs the SQLite of Node 22.16 or later; this is Node ${process.versions.node}.`)
  }
  // Loaded when it is needed: older versions of Node 22 print a warning when they load it.
  const sql = bun ? openBunDatabase(bun, place) : new (process.getBuiltinModule('node:sqlite').DatabaseSync)(place)
  sql.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA cache_size = -65536; PRAGMA temp_store = memory`)
  return sql
}

/** False on Node 20. */
export function hasSqlite(): boolean {
  return bunSqlite() !== undefined || isBuiltin('node:sqlite')
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

/** SQLite's, where it is an error of SQLite. */
function codeOf(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
  return isSqlite ? (error.errcode as number) & 0xff : undefined
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

/** Text that is too long or nested too deeply, however often it is read. */
export function sizeProblem(error: unknown): string {
  if (isTooMuch(error)) return error.message
  throw error
}

/** The same, or a disk error. */
export function contentProblem(error: unknown): string {
  return isTooMuch(error) ? error.message : diskProblem(error).message
}

function isTooMuch(error: unknown): error is Error {
  if (isDatabaseError(error)) return codeOf(error) === tooBig
  const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_STRING_TOO_LONG'
  return isTooLong || error instanceof RangeError
}
