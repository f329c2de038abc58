// Runs a query and reads the texts of its matches from the files.
import { headOf, tailOf } from '../../core/text/cut.ts'
import { wellFormed } from '../../core/text/well-formed.ts'
import { pieceKinds } from '../../core/transcript/format/record-pieces.ts'
import { contentProblem } from './database.ts'
import { type Lookup, pieceText, StalePlace } from './originals.ts'
import { type Card, cardOf, type PieceRow, piecesById } from './rows.ts'
import { findPieces, type SearchQuery } from './search.ts'
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

const hitsPerTerm = 200
/** Characters of a snippet. */
const width = 240

/** The part of a text where the search terms are closest together, on one line. */
function snippetOf(text: string, terms: readonly Term[]): string {
  const hits = hitsIn(text, terms)
  const at = bestStart(hits)
  const start = at <= width / 4 ? 0 : wordStart(text, at - Math.floor(width / 4))
  const end = Math.min(text.length, start + width)
  const part = headOf(tailOf(text, text.length - start), width)
  const shown = wellFormed(part.replace(/\s+/g, ' ').trim())
  return `${start > 0 ? '… ' : ''}${shown}${end < text.length ? ' …' : ''}`
}

type Hit = { readonly at: number; readonly term: number }

function hitsIn(text: string, terms: readonly Term[]): readonly Hit[] {
  const hits: Hit[] = []
  for (const [term, { text: wanted }] of terms.entries()) {
    const words = wanted.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
    if (words.length === 0) continue
    // Character pairs overlap: the first stands for all.
    const pattern = new RegExp(isPairs(words) ? (words[0] ?? '') : words.join('[^\\p{L}\\p{N}]{1,200}'), 'giu')
    for (const found of text.matchAll(pattern)) {
      hits.push({ at: found.index, term })
      if (hits.length > hitsPerTerm * (term + 1)) break
    }
  }
  return hits.toSorted((a, b) => a.at - b.at)
}

function isPairs(words: readonly string[]): boolean {
  return words.length > 1 && words.every((word) => /^[\u1100-\uffdc\u{16fe0}-\u{3ffff}]{2}$/u.test(word))
}

/** The start of the window with the hitsPerTerm different terms. */
function bestStart(hits: readonly Hit[]): number {
  let best = { at: hits[0]?.at ?? 0, count: 0 }
  for (const [from, hit] of hits.entries()) {
    const within = new Set<number>()
    for (let next = from; next < hits.length && (hits[next]?.at ?? 0) < hit.at + width / 2; next++) {
      within.add(hits[next]?.term ?? 0)
    }
    if (within.size > best.count) best = { at: hit.at, count: within.size }
  }
  return best.at
}

function wordStart(text: string, at: number): number {
  const space = text.slice(at, at + 30).search(/\s/)
  return space < 0 ? at : at + space + 1
}
