// From a query to what is shown of its matches: found in the database, their texts looked up in the files.
import { pieceKinds } from '../../core/transcript/format/record-pieces.ts'
import { StalePlace } from './originals.ts'
import { contentProblem } from './problem.ts'
import { pieceText, type Shelf } from './reading.ts'
import { type Card, cardOf, type PieceRow, piecesById } from './rows.ts'
import { findPieces, type SearchQuery } from './search.ts'
import { snippetOf } from './snippet.ts'
import type { Term } from './words.ts'

export type Match = Card & { readonly snippet: string }

export type SearchResult = {
  readonly matches: readonly Match[]
  /** Whether they have all of the words, or, since nothing had all, some; 'none' when no words were given. */
  readonly matched: 'all' | 'any' | 'none'
  /** Whether there are more than the limit allowed. */
  readonly more: boolean
}

export function searchPieces(shelf: Shelf, query: SearchQuery): SearchResult {
  const limit = Number.isNaN(query.limit) ? 10 : Math.min(100, Math.max(1, Math.floor(query.limit ?? 10)))
  // Some over, since sessions that were forked or resumed hold the same entries in several files.
  const { ids, terms, matched } = findPieces(shelf.sql, query, limit * 3 + 1)
  const byId = piecesById(shelf.sql, ids)
  const rows = withoutCopies(ids.map((id) => byId.get(id)).filter((row) => row !== undefined))
  const isNewest = matched === 'none' || query.order === 'newest'
  const ordered = isNewest ? rows.toSorted((a, b) => (b.time ?? 0) - (a.time ?? 0) || b.id - a.id) : rows
  const matches = ordered.slice(0, limit).map((row): Match => {
    return { ...cardOf(row), snippet: snippetIn(shelf, row, terms) }
  })
  return { matches, matched, more: rows.length > limit }
}

/** One text that cannot be shown does not cost the others. */
function snippetIn(shelf: Shelf, row: PieceRow, terms: readonly Term[]): string {
  try {
    return snippetOf(pieceText(shelf, row), terms)
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
    // A result that was stored apart as well is found once, by the id that both go by.
    if (row.tool_use_id !== null && pieceKinds[row.kind] === 'tool-result') {
      const others = row.type === 'result' ? ['inside', 'apart'] : ['apart']
      const isCopy = others.some((place) => seen.has(`${place} ${row.tool_use_id}`))
      seen.add(`${row.type === 'result' ? 'apart' : 'inside'} ${row.tool_use_id}`)
      if (isCopy) return false
    }
    // Only these ids are the same in every copy, and never those of something else.
    return row.uuid === null || row.format !== 'claude-code' || isFirst(`${row.uuid}#${row.piece}`)
  })
}
