// The archive of a session or a folder of them: every original by id, byte for byte, and full-text search. It only
// reads the transcripts; its database is a cache.
import { rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { defaultRecallLimit } from '../../core/ports/session-store.ts'
import { callsOnceFirst, fuse } from '../../core/recall/rank.ts'
import { callSnippet, snippetOf } from '../../core/recall/snippet.ts'
import type { Term } from '../../core/recall/terms.ts'
import type { SearchQuery } from '../../core/session/recall-text.ts'
import { cacheFolder, cachePlace } from '../index/cache-place.ts'
import { indexFolder } from '../index/sidecar.ts'
import { type CatchUpOptions, type CaughtUp, catchUp, removeSources } from './catch-up.ts'
import { contentProblem, discardDatabase, inTransaction, isBroken, isDatabaseError, openDatabase } from './database.ts'
import { listFiles } from './files.ts'
import { type FoundPieces, findPieces, type Matched } from './find.ts'
import { type MeaningOptions, nearestPieces, type Steps } from './meaning.ts'
import {
  type Card,
  cardOf,
  type Lookup,
  type Original,
  type OriginalResult,
  type PieceRow,
  piecesWhere,
  pieceText,
  type Reading,
  readMessage,
  readRecord,
  readResult,
  readText,
  StalePlace,
} from './originals.ts'

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
  /** Also finds texts with a similar meaning, through an embedder of the host. Texts without a vector get one first. */
  readonly searchByMeaning: (query: SearchQuery, options: MeaningOptions) => Promise<MeaningResult>
  /** By the entry's uuid, or by its line: `line-12@session.jsonl`. */
  readonly record: (id: string) => Original | undefined
  /** The records of one API response, in order. */
  readonly message: (messageId: string) => readonly Original[]
  readonly toolResult: (toolUseId: string) => OriginalResult | undefined
  /** Any id: an entry, a piece of it (`uuid#2`), a tool result, an answer, a line. */
  readonly read: (id: string) => Reading | undefined
  readonly close: () => void
}

function archiveFolder(): string {
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

/** Removes caches of a transcript, which must still exist. Archives of folders drop it at their next refresh. */
export function discardCaches(transcript: string): void {
  rmSync(cachePlace(indexFolder(), transcript, 'index'), { force: true })
  discardDatabase(cachePlace(archiveFolder(), transcript, 'db'))
}

export type Match = Card & { readonly snippet: string }

export type SearchResult = {
  readonly matches: readonly Match[]
  readonly matched: Matched
  /** True if the limit cut the list. */
  readonly more: boolean
}

function searchPieces(lookup: Lookup, query: SearchQuery): SearchResult {
  return shown(lookup, query, findPieces(lookup.sql, query, wantedOf(query)))
}

type MeaningResult = SearchResult & {
  /** Number of texts without a vector. They were found by words only. */
  readonly missing: number
  /** The reason why only words were searched. */
  readonly problem?: string
}

/** Merges matches by words and by meaning. */
async function searchByMeaning(run: Steps, query: SearchQuery, options: MeaningOptions): Promise<MeaningResult> {
  const { ids: nearest, ...rest } = await nearestPieces(run, query, options)
  const result = run((lookup) => {
    const found = findPieces(lookup.sql, query, Math.max(nearest.length, wantedOf(query)))
    if (nearest.length === 0 || query.order === 'newest') return shown(lookup, query, found)
    const ids = fuse([found.ids, nearest]).slice(0, wantedOf(query))
    return shown(lookup, query, { ...found, ids, matched: found.ids.length === 0 ? 'any' : found.matched })
  })
  return { ...result, ...rest }
}

function limitOf({ limit = defaultRecallLimit }: SearchQuery): number {
  return Number.isNaN(limit) ? defaultRecallLimit : Math.min(100, Math.max(1, Math.floor(limit)))
}

/** A few extra: forked or resumed sessions contain the same entries in several files. */
function wantedOf(query: SearchQuery): number {
  return limitOf(query) * 3 + 1
}

function shown(lookup: Lookup, query: SearchQuery, { ids, terms, matched }: FoundPieces): SearchResult {
  const limit = limitOf(query)
  const found = piecesWhere(lookup.sql, 'p.id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
  const byId = new Map(found.map((row) => [row.id, row]))
  const all = withoutCopies(ids.flatMap((id) => byId.get(id) ?? []))
  const isNewest = matched === 'none' || query.order === 'newest'
  const rows = isNewest
    ? all
    : callsOnceFirst(all, { callOf: ({ call }) => call, isCall: ({ kind }) => kind === 'tool-use' })
  const ordered = isNewest ? rows.toSorted((a, b) => (b.time ?? 0) - (a.time ?? 0) || b.id - a.id) : rows
  const results = new Map(all.flatMap((row) => (row.kind === 'tool-result' ? [[row.call, row]] : [])))
  const matches = ordered.slice(0, limit).map((row) => {
    const result = row.kind === 'tool-use' && row.call !== null ? results.get(row.call) : undefined
    const snippet = snippetIn(lookup, row, terms)
    return { ...cardOf(row), snippet: result ? callSnippet(snippet, snippetIn(lookup, result, terms)) : snippet }
  })
  return { matches, matched, more: rows.length > limit }
}

function withoutCopies(rows: readonly PieceRow[]): readonly PieceRow[] {
  const seen = new Set<string>()
  return rows.filter(({ kind, call, uuid, format, piece }) => {
    const keys: string[] = []
    // A result that is also stored as a file is listed once.
    if (call !== null && kind === 'tool-result') keys.push(`call ${call}`)
    // Only these ids are the same in every copy and unique otherwise.
    if (uuid !== null && format === 'claude-code') keys.push(`${uuid}#${piece}`)
    const isNew = !keys.some((key) => seen.has(key))
    for (const key of keys) seen.add(key)
    return isNew
  })
}

/** One unreadable text does not fail the search. */
function snippetIn(lookup: Lookup, row: PieceRow, terms: readonly Term[]): string {
  try {
    return snippetOf(pieceText(lookup, row), terms)
  } catch (error) {
    if (error instanceof StalePlace) throw error
    return `[This text cannot be read: ${contentProblem(error)}]`
  }
}
