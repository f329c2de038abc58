// Searches pieces by words and filters, and reads the texts of the matches from the files.

import { fuse } from '../../core/recall/rank.ts'
import { snippetOf } from '../../core/recall/snippet.ts'
import type { Term } from '../../core/recall/terms.ts'
import type { SearchQuery } from '../../core/session/recall-input.ts'
import { contentProblem } from './database.ts'
import { type Found, findPieces, type Matched } from './find.ts'
import { type MeaningOptions, nearestPieces, type Steps } from './meaning.ts'
import { type Card, cardOf, type Lookup, type PieceRow, piecesWhere, pieceText, StalePlace } from './originals.ts'

export type Match = Card & { readonly snippet: string }

export type SearchResult = {
  readonly matches: readonly Match[]
  readonly matched: Matched
  /** Whether the limit cut the list. */
  readonly more: boolean
}

export function searchPieces(lookup: Lookup, query: SearchQuery): SearchResult {
  return shown(lookup, query, findPieces(lookup.sql, query, wantedOf(query)))
}

export type MeaningResult = SearchResult & {
  /** How many texts have no vector yet: they were found by words only. */
  readonly missing: number
  /** Why only words were searched. */
  readonly problem?: string
}

/** What has the words and what is near in meaning, merged. */
export async function searchByMeaning(run: Steps, query: SearchQuery, options: MeaningOptions): Promise<MeaningResult> {
  const { ids: nearest, ...rest } = await nearestPieces(run, query, options)
  const result = run((lookup) => {
    const found = findPieces(lookup.sql, query, Math.max(nearest.length, wantedOf(query)))
    if (nearest.length === 0 || query.order === 'newest') return shown(lookup, query, found)
    const ids = fuse([found.ids, nearest]).slice(0, wantedOf(query))
    return shown(lookup, query, { ...found, ids, matched: found.ids.length === 0 ? 'any' : found.matched })
  })
  return { ...result, ...rest }
}

function limitOf({ limit = 10 }: SearchQuery): number {
  return Number.isNaN(limit) ? 10 : Math.min(100, Math.max(1, Math.floor(limit)))
}

/** A few extra: forked or resumed sessions contain the same entries in several files. */
function wantedOf(query: SearchQuery): number {
  return limitOf(query) * 3 + 1
}

function shown(lookup: Lookup, query: SearchQuery, { ids, terms, matched }: Found): SearchResult {
  const limit = limitOf(query)
  const found = piecesWhere(lookup.sql, 'p.id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
  const byId = new Map(found.map((row) => [row.id, row]))
  const rows = withoutCopies(ids.flatMap((id) => byId.get(id) ?? []))
  const isNewest = matched === 'none' || query.order === 'newest'
  const ordered = isNewest ? rows.toSorted((a, b) => (b.time ?? 0) - (a.time ?? 0) || b.id - a.id) : rows
  const matches = ordered.slice(0, limit).map((row) => ({ ...cardOf(row), snippet: snippetIn(lookup, row, terms) }))
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
