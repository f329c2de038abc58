// The archive of a session or a folder of them: every original by id, byte for byte, and full-text search. It only
// reads the transcripts; its database is a cache.

import { rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { SearchQuery } from '../../core/session/recall-input.ts'
import { cacheFolder, cachePlace } from '../index/cache-place.ts'
import { indexFolder } from '../index/sidecar.ts'
import { type CatchUpOptions, type CaughtUp, catchUp, removeSources } from './catch-up.ts'
import { discardDatabase, inTransaction, isBroken, isDatabaseError, openDatabase } from './database.ts'
import { listFiles } from './files.ts'
import type { MeaningOptions } from './meaning.ts'
import {
  type Lookup,
  type Original,
  type OriginalResult,
  type Reading,
  readMessage,
  readRecord,
  readResult,
  readText,
  StalePlace,
} from './originals.ts'
import { type MeaningResult, type SearchResult, searchByMeaning, searchPieces } from './search.ts'

export type ArchiveOptions = CatchUpOptions & {
  /** The folder of the database; `false` keeps it in memory. */
  readonly folder?: string | false
  /** Which transcripts of a folder belong to the archive; all by default. Needs a `folder` of its own. */
  readonly includes?: (transcript: string) => boolean
}

export type Archive = {
  readonly path: string
  /** Indexes what was appended since. Cheap if nothing was. */
  readonly refresh: (options?: CatchUpOptions) => CaughtUp
  readonly search: (query: SearchQuery) => SearchResult
  /** Also finds texts that are near in meaning, with an embedder of the host. Texts without a vector get one first. */
  readonly searchByMeaning: (query: SearchQuery, options: MeaningOptions) => Promise<MeaningResult>
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
  let sql = openDatabase(place)
  let paths = new Map<string, string>()

  const bringUpToDate = (how?: CatchUpOptions): CaughtUp => {
    const files = listFiles(root, options.includes)
    paths = new Map(files.map(({ name, path }) => [name, path]))
    return catchUp(sql, files, how)
  }
  const replaceDatabase = (isDamaged: boolean): void => {
    sql.close()
    if (isDamaged && place !== undefined) discardDatabase(place)
    sql = openDatabase(isDamaged ? place : undefined)
  }
  /** Rebuilds a broken database and rereads changed files, then tries again. */
  const withRetries = <T>(run: (lookup: Lookup) => T): T => {
    for (let attempt = 1; ; attempt++) {
      try {
        return run({ sql, pathOf: (name) => paths.get(name), onlyFile: basename(root) })
      } catch (error) {
        if (attempt === 3) throw error
        if (error instanceof StalePlace) inTransaction(sql, () => removeSources(sql, [error.source]))
        else if (isDatabaseError(error)) replaceDatabase(isBroken(error) && attempt === 1)
        else throw error
        bringUpToDate()
      }
    }
  }
  const archive: Archive = {
    path: root,
    refresh: (how) => withRetries(() => bringUpToDate(how)),
    search: (query) => withRetries((lookup) => searchPieces(lookup, query)),
    searchByMeaning: (query, how) => searchByMeaning(withRetries, query, how),
    record: (id) => withRetries((lookup) => readRecord(lookup, id)),
    message: (id) => withRetries((lookup) => readMessage(lookup, id)),
    toolResult: (id) => withRetries((lookup) => readResult(lookup, id)),
    read: (id) => withRetries((lookup) => readText(lookup, id)),
    close: () => sql.close(),
  }
  archive.refresh(options)
  return archive
}

/** Removes what was cached from a transcript. It must still exist. Archives of folders drop it at their next refresh. */
export function discardCaches(transcript: string): void {
  rmSync(cachePlace(indexFolder(), transcript, 'index'), { force: true })
  discardDatabase(cachePlace(archiveFolder(), transcript, 'db'))
}
