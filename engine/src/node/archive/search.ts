// Finds the ids of pieces by words and filters.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { type PieceKind, pieceKinds } from '../../core/transcript/format/record-pieces.ts'
import { matchAll, matchAny, matchOf, parseTerms, type Term } from './words.ts'

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

export type Hits = {
  readonly ids: readonly number[]
  readonly terms: readonly Term[]
  /** Whether the matches contain all words or some; 'none' without words. */
  readonly matched: 'all' | 'any' | 'none'
}

/**
 * Only this many of the newest matches are ranked. Ranking all matches of a very common word takes a tenth of a second
 * or more and says little.
 */
const rankLimit = 1000

export function findPieces(sql: DatabaseSync, query: SearchQuery, count: number): Hits {
  const where = conditions(sql, query)
  if (!hasWords(query)) {
    return { ids: where === undefined ? [] : newest(sql, where, count), terms: [], matched: 'none' }
  }
  const terms = parseTerms(query.words)
  if (terms.length === 0 || where === undefined) return { ids: [], terms, matched: 'all' }
  const order = query.order === 'newest' ? 'newest' : isOnePhrase(terms) ? 'shortest' : 'best'
  const all = matching(sql, { match: matchAll(terms), where, order }, count)
  if (all.length > 0 || terms.length === 1) return { ids: all, terms, matched: 'all' }
  const any = matching(sql, { match: matchAny(rareTerms(sql, terms)), where, order }, count)
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

function isOnePhrase(terms: readonly Term[]): boolean {
  return terms.length === 1 && (terms[0]?.text.match(/[\p{L}\p{N}\p{Co}]+/gu)?.length ?? 0) > 1
}

/**
 * What the newest matches are sorted by. A single phrase or path is sorted by length: bm25 would scan all its matches
 * twice to weigh it against nothing, and what is left of bm25 then is roughly that short texts come first.
 */
const scores = { best: 'words.rank', shortest: 'p.length', newest: '0' } as const

function matching(sql: DatabaseSync, { match, where, order }: Wanted, count: number): readonly number[] {
  const needsPieces = where.text !== '' || order === 'shortest'
  // CROSS JOIN makes SQLite start from the matches.
  const joined = needsPieces ? 'CROSS JOIN pieces p ON p.id = words.rowid' : ''
  const condition = where.text === '' ? '' : `AND ${where.text}`
  const found = `SELECT words.rowid AS id, ${scores[order]} AS score FROM words ${joined}
    WHERE words MATCH ? ${condition} ORDER BY words.rowid DESC LIMIT ${rankLimit}`
  const ordered = sql.prepare(`SELECT id FROM (${found}) ORDER BY score, id DESC LIMIT ?`)
  return idsOf(ordered.all(match, ...where.values, count))
}

function newest(sql: DatabaseSync, where: Where, count: number): readonly number[] {
  const condition = where.text === '' ? '' : `WHERE ${where.text}`
  const found = sql.prepare(`SELECT p.id FROM pieces p ${condition} ORDER BY p.id DESC LIMIT ?`)
  return idsOf(found.all(...where.values, count))
}

function idsOf(rows: readonly unknown[]): readonly number[] {
  return (rows as { readonly id: number }[]).map((row) => row.id)
}

const assistantKinds: readonly PieceKind[] = ['assistant', 'thinking', 'tool-use']

// With words, each match is checked; without, the filter finds the pieces through their index.
const valueList = '(SELECT value FROM json_each(?))'
const toolOfMatch = `(SELECT tool FROM calls WHERE id = p.call) IN ${valueList}`
const callsOfTool = `p.call IN (SELECT id FROM calls WHERE tool IN ${valueList})`
const pathOfMatch = `EXISTS (SELECT 1 FROM touched WHERE call = p.call AND path IN ${valueList})`
const callsOfPath = `p.call IN (SELECT call FROM touched WHERE path IN ${valueList})`

function hasWords(query: SearchQuery): query is SearchQuery & { readonly words: string } {
  return query.words !== undefined && query.words.trim() !== ''
}

/** Undefined if nothing can match. */
function conditions(sql: DatabaseSync, query: SearchQuery): Where | undefined {
  const texts: string[] = []
  const values: SQLInputValue[] = []
  const among = (column: string, numbers: readonly number[]) => texts.push(`${column} IN (${numbers.join(', ')})`)
  const kinds = pieceKinds.filter(
    (kind) =>
      (query.kinds === undefined || query.kinds.includes(kind)) &&
      (query.role === undefined || (query.role === 'assistant') === assistantKinds.includes(kind)),
  )
  if (kinds.length < pieceKinds.length)
    among(
      'p.kind',
      kinds.map((kind) => pieceKinds.indexOf(kind)),
    )
  for (const [column, value] of [
    ['p.epoch =', query.epoch],
    ['p.time >=', query.since],
    ['p.time <=', query.until],
  ] as const) {
    if (value === undefined) continue
    texts.push(`${column} ?`)
    values.push(value)
  }
  const { tool, path } = query
  if (tool !== undefined) {
    const names = namesLike(sql, (name) => isTool(name, tool))
    texts.push(hasWords(query) ? toolOfMatch : callsOfTool)
    values.push(JSON.stringify(names))
  }
  if (path !== undefined) {
    const names = namesLike(sql, pathMatcher(path))
    texts.push(hasWords(query) ? pathOfMatch : callsOfPath)
    values.push(JSON.stringify(names))
  }
  return kinds.length === 0 ? undefined : { text: texts.join(' AND '), values }
}

function namesLike(sql: DatabaseSync, isWanted: (name: string) => boolean): readonly number[] {
  const names = sql.prepare('SELECT id, text FROM names').all() as { readonly id: number; readonly text: string }[]
  return names.filter((name) => isWanted(name.text)).map((name) => name.id)
}

function isTool(name: string, wanted: string): boolean {
  const [has, wants] = [name.toLowerCase(), wanted.trim().toLowerCase()]
  return has === wants || has.endsWith(`__${wants}`)
}

/**
 * Consecutive whole parts: `http/rate-limit.ts` and `src/http` match `/home/me/src/http/rate-limit.ts`, `limit.ts` does
 * not.
 */
function pathMatcher(wanted: string): (path: string) => boolean {
  const parts = partsOf(wanted)
  const matchers = parts.map((part) => {
    const [first = '', ...rest] = part.split(/\*+/)
    return (has: string) => (rest.length === 0 ? has === first : matchesGlob(has, first, rest))
  })
  return (path) => {
    const has = partsOf(path)
    for (let from = 0; from + matchers.length <= has.length; from++) {
      if (matchers.every((matches, at) => matches(has[from + at] ?? ''))) return matchers.length > 0
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
function matchesGlob(text: string, first: string, rest: readonly string[]): boolean {
  const last = rest.at(-1) ?? ''
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of rest.slice(0, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
