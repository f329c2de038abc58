// Runs a query and reads the texts of its matches from the files.
import { pieceKinds } from '../../core/transcript/format/record-pieces.ts'
import { StalePlace } from './originals.ts'
import { contentProblem } from './problem.ts'
import { type Lookup, pieceText } from './reading.ts'
import { type Card, cardOf, type PieceRow, piecesById } from './rows.ts'
import { findPieces, type SearchQuery } from './search.ts'
import { snippetOf } from './snippet.ts'
import type { Term } from './words.ts'

export type Match = Card & { readonly snippet: string }

export type SearchResult = {
  readonly matches: readonly Match[]
  /** Whether the matches contain all words or, because none does, some; 'none' without words. */
  readonly matched: 'all' | 'any' | 'none'
  /** Whether the limit cut the list. */
  readonly more: boolean
}

export function searchPieces(lookup: Lookup, query: SearchQuery): SearchResult {
  const limit = Number.isNaN(query.limit) ? 10 : Math.min(100, Math.max(1, Math.floor(query.limit ?? 10)))
  // A few extra: forked or resumed sessions contain the same entries in several files.
  const { ids, terms, matched } = findPieces(lookup.sql, query, limit * 3 + 1)
  const byId = piecesById(lookup.sql, ids)
  const rows = withoutCopies(ids.map((id) => byId.get(id)).filter((row) => row !== undefined))
  const isNewest = matched === 'none' || query.order === 'newest'
  const ordered = isNewest ? rows.toSorted((a, b) => (b.time ?? 0) - (a.time ?? 0) || b.id - a.id) : rows
  const matches = ordered.slice(0, limit).map((row): Match => {
    return { ...cardOf(row), snippet: snippetIn(lookup, row, terms) }
  })
  return { matches, matched, more: rows.length > limit }
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

function withoutCopies(rows: readonly PieceRow[]): readonly PieceRow[] {
  const seen = new Set<string>()
  const isFirst = (key: string): boolean => {
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  }
  return rows.filter((row) => {
    // A result that is also stored as a file is listed once.
    if (row.tool_use_id !== null && pieceKinds[row.kind] === 'tool-result') {
      const others = row.type === 'result' ? ['inside', 'apart'] : ['apart']
      const isCopy = others.some((place) => seen.has(`${place} ${row.tool_use_id}`))
      seen.add(`${row.type === 'result' ? 'apart' : 'inside'} ${row.tool_use_id}`)
      if (isCopy) return false
    }
    // Only these ids are the same in every copy and unique otherwise.
    return row.uuid === null || row.format !== 'claude-code' || isFirst(`${row.uuid}#${row.piece}`)
  })
}
