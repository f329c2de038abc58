// Searches pieces by words and filters, and reads the texts of the matches from the files.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { headOf, tailOf } from '../../core/text/cut.ts'
import { wellFormed } from '../../core/text/well-formed.ts'
import { type PieceKind, pieceKinds } from '../../core/transcript/format/record-pieces.ts'
import { contentProblem } from './database.ts'
import { type Card, cardOf, type Lookup, type PieceRow, piecesWhere, pieceText, StalePlace } from './originals.ts'
import { matchExpression, matchOf, parseTerms, type Term, wordsOf } from './words.ts'

export type SearchQuery = {
  /** Words, "phrases", prefix*, paths, identifiers. All are required; if nothing has all of them, some are enough. */
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
  /** Whether the matches contain all words or, because none does, some; 'none' without words. */
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

type Hits = Pick<SearchResult, 'matched'> & { readonly ids: readonly number[]; readonly terms: readonly Term[] }

/**
 * Only this many of the newest matches are ranked. Ranking all matches of a very common word takes a tenth of a second
 * or more and says little.
 */
const rankLimit = 1000

function findPieces(sql: DatabaseSync, query: SearchQuery, count: number): Hits {
  const words = query.words?.trim() ?? ''
  const terms = parseTerms(words)
  const matched = words === '' ? 'none' : 'all'
  const where = conditions(sql, query)
  if (words !== '' && terms.length === 0) return { ids: [], terms, matched }
  if (words === '') return { ids: newest(sql, where, count), terms, matched }
  const order =
    query.order === 'newest' ? 'newest' : terms.length === 1 && terms.flatMap(wordsOf).length > 1 ? 'shortest' : 'best'
  const all = matching(sql, { match: matchExpression(terms, 'AND'), where, order }, count)
  if (all.length > 0 || terms.length === 1) return { ids: all, terms, matched }
  const any = matching(sql, { match: matchExpression(rareTerms(sql, terms), 'OR'), where, order }, count)
  return { ids: any, terms, matched: 'any' }
}

type Where = { readonly text: string; readonly values: readonly SQLInputValue[] }
type Wanted = { readonly match: string; readonly where: Where; readonly order: keyof typeof scores }

/** The rare words, or all if none is rare. */
function rareTerms(sql: DatabaseSync, terms: readonly Term[]): readonly Term[] {
  const count = sql.prepare(
    `SELECT count(*) AS found FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ${rankLimit})`,
  )
  const rare = terms.filter((term) => Number(count.get(matchOf(term))?.found) < rankLimit)
  return rare.length === 0 ? terms : rare
}

/**
 * What the newest matches are sorted by. A single phrase or path is sorted by length: bm25 would scan all its matches
 * twice to weigh it against nothing, and what is left of bm25 then is roughly that short texts come first.
 */
const scores = { best: 'words.rank', shortest: 'p.characters', newest: '0' } as const

function matching(sql: DatabaseSync, { match, where, order }: Wanted, count: number): readonly number[] {
  // CROSS JOIN makes SQLite start from the matches.
  const found = `SELECT p.id, ${scores[order]} AS score FROM words CROSS JOIN pieces p ON p.id = words.rowid
    WHERE words MATCH ? AND ${where.text} ORDER BY words.rowid DESC LIMIT ${rankLimit}`
  const ordered = sql.prepare(`SELECT id FROM (${found}) ORDER BY score, id DESC LIMIT ?`)
  return idsOf(ordered.all(match, ...where.values, count))
}

function newest(sql: DatabaseSync, where: Where, count: number): readonly number[] {
  const found = sql.prepare(`SELECT p.id FROM pieces p WHERE ${where.text} ORDER BY p.id DESC LIMIT ?`)
  return idsOf(found.all(...where.values, count))
}

function idsOf(rows: readonly unknown[]): readonly number[] {
  return (rows as { readonly id: number }[]).map((row) => row.id)
}

const assistantKinds: readonly PieceKind[] = ['assistant', 'thinking', 'tool-use']

const valueList = '(SELECT value FROM json_each(?))'
const ofTool = `p.call IN (SELECT id FROM calls WHERE tool IN ${valueList})`
const ofPath = `p.call IN (SELECT call FROM touched WHERE path IN ${valueList})`

function conditions(sql: DatabaseSync, query: SearchQuery): Where {
  const { kinds: named = pieceKinds, role, tool, path } = query
  const kinds = pieceKinds.filter(
    (kind) => named.includes(kind) && (role === undefined || (role === 'assistant') === assistantKinds.includes(kind)),
  )
  const filters: readonly (readonly [string, SQLInputValue | undefined])[] = [
    ['p.epoch = ?', query.epoch],
    ['p.time >= ?', query.since],
    ['p.time <= ?', query.until],
    [ofTool, tool === undefined ? undefined : valuesLike(sql, 'tool AS value FROM calls', isTool(tool))],
    [ofPath, path === undefined ? undefined : valuesLike(sql, 'path AS value FROM touched', pathMatcher(path))],
  ]
  const used = filters.filter(([, value]) => value !== undefined)
  const isAll = kinds.length === pieceKinds.length
  const ofKind = isAll ? 'p.kind IS NOT NULL' : `p.kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`
  return {
    text: [ofKind, ...used.map(([text]) => text)].join(' AND '),
    values: used.flatMap(([, value]) => value ?? []),
  }
}

/** Which values of a column are wanted, as JSON. */
function valuesLike(sql: DatabaseSync, column: string, isWanted: (value: string) => boolean): string {
  const rows = sql.prepare(`SELECT DISTINCT ${column}`).all() as { readonly value: string | null }[]
  return JSON.stringify(rows.flatMap(({ value }) => (value !== null && isWanted(value) ? value : [])))
}

function isTool(wanted: string): (name: string) => boolean {
  const wants = wanted.trim().toLowerCase()
  return (name) => name.toLowerCase() === wants || name.toLowerCase().endsWith(`__${wants}`)
}

/** Consecutive whole parts: `http/limit.ts` and `src/http` match `/me/src/http/limit.ts`, `imit.ts` does not. */
function pathMatcher(wanted: string): (path: string) => boolean {
  const globs = partsOf(wanted).map((part) => part.split(/\*+/))
  return (path) => {
    const has = partsOf(path)
    for (let from = 0; from + globs.length <= has.length; from++) {
      if (globs.every((glob, at) => matchesGlob(has[from + at] ?? '', glob))) return globs.length > 0
    }
    return false
  }
}

function partsOf(path: string): readonly string[] {
  return path
    .trim()
    .split(/[\\/]+/)
    .filter((part) => part !== '' && part !== '.')
}

/** Without backtracking: no pattern can make it slow. */
function matchesGlob(text: string, [first = '', ...rest]: readonly string[]): boolean {
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
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

const hitsPerTerm = 200
const width = 240

/** The part of a text where the search terms are closest together, on one line. */
function snippetOf(text: string, terms: readonly Term[]): string {
  const at = bestStart(hitsIn(text, terms))
  const start = at <= width / 4 ? 0 : wordStart(text, at - Math.floor(width / 4))
  const part = headOf(tailOf(text, text.length - start), width)
  const shown = wellFormed(part.replace(/\s+/g, ' ').trim())
  return `${start > 0 ? '… ' : ''}${shown}${start + width < text.length ? ' …' : ''}`
}

type Hit = { readonly at: number; readonly term: number }

function hitsIn(text: string, terms: readonly Term[]): readonly Hit[] {
  const hits = terms.flatMap((term, nth) => {
    const found = [...text.matchAll(patternOf(wordsOf(term)))].slice(0, hitsPerTerm)
    return found.map(({ index }) => ({ at: index, term: nth }))
  })
  return hits.toSorted((a, b) => a.at - b.at)
}

function patternOf(words: readonly string[]): RegExp {
  // Character pairs overlap: the first stands for all.
  const isPairs = words.length > 1 && words.every((word) => /^[\u1100-\uffdc\u{16fe0}-\u{3ffff}]{2}$/u.test(word))
  return new RegExp(isPairs ? (words[0] ?? '') : words.join('[^\\p{L}\\p{N}]{1,200}'), 'giu')
}

/** The start of the half snippet with the most different terms. */
function bestStart(hits: readonly Hit[]): number {
  let best = { at: hits[0]?.at ?? 0, count: 0 }
  for (const [from, { at }] of hits.entries()) {
    const within = new Set<number>()
    for (let next = from; next < hits.length && (hits[next]?.at ?? 0) < at + width / 2; next++) {
      within.add(hits[next]?.term ?? 0)
    }
    if (within.size > best.count) best = { at, count: within.size }
  }
  return best.at
}

function wordStart(text: string, at: number): number {
  return at + text.slice(at, at + 30).search(/\s/) + 1
}
