// Searches pieces by words and filters, and reads the texts of the matches from the files.
import { snippetOf } from '../../core/recall/snippet.ts'
import type { Term } from '../../core/recall/terms.ts'
import type { PieceKind } from '../../core/transcript/format/record-pieces.ts'
import { contentProblem } from './database.ts'
import { findPieces } from './find.ts'
import { type Card, cardOf, type Lookup, type PieceRow, piecesWhere, pieceText, StalePlace } from './originals.ts'

export type SearchQuery = {
  /**
   * A question in its own words, or words, "phrases", prefix*, paths, identifiers. Matches have the phrases and prefixes
   * if any text has them; what has all the words comes first.
   */
  readonly words?: string
  readonly kinds?: readonly PieceKind[]
  readonly role?: 'user' | 'assistant'
  /** Case-insensitive; for an MCP tool the last part is enough. */
  readonly tool?: string
  /** A file or folder named by a call: the whole path or some consecutive parts; `*` matches within a part. */
  readonly path?: string
  readonly epoch?: number
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number
  readonly until?: number
  /** Default: best first with words, else newest first. */
  readonly order?: 'best' | 'newest'
  /** Default 10, at most 100. */
  readonly limit?: number
}

export type Match = Card & { readonly snippet: string }

export type SearchResult = {
  readonly matches: readonly Match[]
  /** Whether the first match has all words (in some form, without "the", "what" and the like) or some; 'none' without words. */
  readonly matched: 'all' | 'any' | 'none'
  /** Whether the limit cut the list. */
  readonly more: boolean
}

export function searchPieces(lookup: Lookup, query: SearchQuery): SearchResult {
  const limit = Number.isNaN(query.limit) ? 10 : Math.min(100, Math.max(1, Math.floor(query.limit ?? 10)))
  // A few extra: forked or resumed sessions contain the same entries in several files.
  const { ids, terms, matched } = findPieces(lookup.sql, query, limit * 3 + 1)
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
