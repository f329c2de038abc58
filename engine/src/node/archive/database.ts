// The archive's database: a word index without the words' texts, and where in which file each text lies. It is a
// cache: made anew when it is broken or of another version, kept in memory where it cannot be written.
import { closeSync, openSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { diskProblem, nodeDisk } from '../write/disk.ts'

export type Database = {
  readonly sql: DatabaseSync
  readonly kept: 'on-disk' | 'in-memory'
}

/** To be raised with every change of the tables, or of what is put into them. */
const version = 2

/**
 * A file that is read, its entries, their pieces, the words of the pieces, and what could not be indexed. Tools and paths repeat themselves, so
 * they are stored once as names. A call's id counts within its session, sub-agents and stored results included; the
 * call and its result may lie in different files of it. `sources.bytes` is where the settled part of a file ends: behind it lies at most a
 * last line without a newline, whose entries are taken out again when the file grows.
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

/** How long to wait for another process that writes: it does so in steps of about a second. */
const patienceMs = 60_000

/** Opens the database at this place; in memory when there is no place or none can be had. */
export function openDatabase(place: string | undefined): Database {
  const onDisk = place === undefined ? undefined : openOnDisk(place)
  if (onDisk !== undefined) return { sql: onDisk, kept: 'on-disk' }
  const sql = connect(':memory:')
  sql.exec(schema)
  return { sql, kept: 'in-memory' }
}

function openOnDisk(place: string): DatabaseSync | undefined {
  let discarded = false
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    try {
      nodeDisk.makeFolder(dirname(place))
      // SQLite would make it readable for others, and its helper files are made like it.
      closeSync(openSync(place, 'a', 0o600))
      const sql = connectTo(place)
      if (sql !== undefined) return sql
    } catch (error) {
      // A read-only home, a full disk: it costs time, not answers.
      if (!isDatabaseError(error)) return cacheProblem(error)
      if (isBusy(error)) {
        pause(10)
        continue
      }
      if (!isBroken(error)) return undefined
    }
    if (discarded) return undefined
    discardDatabase(place)
    discarded = true
  }
  return undefined
}

/** Of opening: while two processes make the same database, SQLite tells one of them at once that it is busy. */
const mostAttempts = 200

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** What the system says of a cache is no reason to fail; anything else is a mistake of ours. */
function cacheProblem(error: unknown): undefined {
  diskProblem(error)
}

/** Undefined when its tables are of another version. */
function connectTo(place: string): DatabaseSync | undefined {
  const sql = connect(place)
  try {
    sql.exec('PRAGMA journal_mode = wal; PRAGMA synchronous = normal; BEGIN IMMEDIATE')
    const found = sql.prepare('PRAGMA user_version').get()?.user_version
    if (found === 0) sql.exec(schema)
    sql.exec('COMMIT')
    if (found === 0 || found === version) return sql
    sql.close()
    return undefined
  } catch (error) {
    sql.close()
    throw error
  }
}

function connect(place: string): DatabaseSync {
  const sqlite = loadSqlite()
  const sql = new sqlite.DatabaseSync(place)
  sql.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA cache_size = -65536; PRAGMA temp_store = memory`)
  return sql
}

/** False on Node 20. */
export function hasSqlite(): boolean {
  return isBuiltin('node:sqlite')
}

/** Loaded when it is needed: older versions of Node 22 print a warning when they load it. */
function loadSqlite(): typeof import('node:sqlite') {
  if (hasSqlite()) return process.getBuiltinModule('node:sqlite')
  throw new Error(`The archive needs the SQLite of Node 22.16 or later; this is Node ${process.versions.node}.`)
}

export function discardDatabase(place: string): void {
  for (const ending of ['-wal', '-shm', '']) rmSync(`${place}${ending}`, { force: true })
}

type DatabaseError = Error & { readonly errcode: number }

function isBusy(error: DatabaseError): boolean {
  return (error.errcode & 0xff) === 5
}

export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}

/** Whether it says that the file holds no sound database; as opposed to a full disk, or somebody else at work. */
export function isBroken(error: unknown): boolean {
  const broken = [1, 11, 26] // SQLITE_ERROR (tables that are not as they were made), SQLITE_CORRUPT, SQLITE_NOTADB
  return isDatabaseError(error) && broken.includes(error.errcode & 0xff)
}

/** All of it or nothing, and nobody else writes meanwhile. */
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
