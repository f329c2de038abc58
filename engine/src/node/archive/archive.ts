// The archive of a session or a folder of them: every original by id, byte for byte, and full-text search. It only
// reads the transcripts; its database is a cache.
import { basename, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { cacheFolder, cachePlace } from '../index/cache-place.ts'
import { type CatchUpOptions, type CaughtUp, catchUp, removeSources } from './catch-up.ts'
import { type Database, discardDatabase, inTransaction, isBroken, isDatabaseError, openDatabase } from './database.ts'
import { listFiles } from './files.ts'
import {
  type Original,
  type OriginalResult,
  type Reading,
  readMessage,
  readRecord,
  readResult,
  readText,
  StalePlace,
} from './originals.ts'
import { type SearchQuery, type SearchResult, searchPieces } from './search.ts'

export type ArchiveOptions = CatchUpOptions & {
  /** The folder of the database; `false` keeps it in memory. */
  readonly folder?: string | false
  /** Which transcripts of a folder belong to the archive; all by default. Needs a `folder` of its own. */
  readonly includes?: (transcript: string) => boolean
}

export type Archive = {
  readonly path: string
  readonly kept: () => Database['kept']
  /** Indexes what was appended since. Cheap if nothing was. */
  readonly refresh: (options?: CatchUpOptions) => CaughtUp
  readonly search: (query: SearchQuery) => SearchResult
  /** By the entry's uuid, or by its line: `line-12@session.jsonl`. */
  readonly record: (id: string) => Original | undefined
  /** The records of one API response, in order. */
  readonly message: (messageId: string) => readonly Original[]
  readonly toolResult: (toolUseId: string) => OriginalResult | undefined
  /** Anything with this id: an entry, a piece of it (`uuid#2`), a tool result, an answer, a line. */
  readonly read: (id: string) => Reading | undefined
  readonly close: () => void
}

export function archiveFolder(): string {
  return join(cacheFolder(), 'archive')
}

/** Opens the archive of a transcript (with its sub-agents and stored results) or of a folder. */
export function openArchive(path: string, options: ArchiveOptions = {}): Archive {
  const root = resolve(path)
  const folder = options.folder ?? archiveFolder()
  const place = folder === false ? undefined : cachePlace(folder, root, 'db')
  const state = { database: openDatabase(place), paths: new Map<string, string>() }

  const replaceDatabase = (isDamaged: boolean): void => {
    state.database.sql.close()
    if (isDamaged && place !== undefined) discardDatabase(place)
    state.database = openDatabase(isDamaged ? place : undefined)
  }
  /** Rebuilds a broken database and rereads changed files, then tries again. */
  const withRetries = <T>(run: (sql: DatabaseSync) => T): T => {
    for (let attempt = 1; ; attempt++) {
      try {
        return run(state.database.sql)
      } catch (error) {
        if (attempt === 3) throw error
        const { sql } = state.database
        if (error instanceof StalePlace) inTransaction(sql, () => removeSources(sql, [error.source]))
        else if (isDatabaseError(error)) replaceDatabase(isBroken(error) && attempt === 1)
        else throw error
        bringUpToDate(state.database.sql)
      }
    }
  }
  const bringUpToDate = (sql: DatabaseSync, how: CatchUpOptions = {}): CaughtUp => {
    const files = listFiles(root, options.includes)
    state.paths = new Map(files.map(({ name, path }) => [name, path]))
    return catchUp(sql, files, how)
  }
  const pathOf = (name: string) => state.paths.get(name)
  const at = (sql: DatabaseSync) => ({ sql, pathOf, onlyFile: basename(root) })

  const archive: Archive = {
    path: root,
    kept: () => state.database.kept,
    refresh: (how) => withRetries((sql) => bringUpToDate(sql, how)),
    search: (query) => withRetries((sql) => searchPieces(at(sql), query)),
    record: (id) => withRetries((sql) => readRecord(at(sql), id)),
    message: (id) => withRetries((sql) => readMessage(at(sql), id)),
    toolResult: (id) => withRetries((sql) => readResult(at(sql), id)),
    read: (id) => withRetries((sql) => readText(at(sql), id)),
    close: () => state.database.sql.close(),
  }
  archive.refresh(options)
  return archive
}
