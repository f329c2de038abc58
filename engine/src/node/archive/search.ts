// Finds pieces by their words and by what is known of them. It gives ids in order; texts are not its business.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { type PieceKind, pieceKinds } from '../../core/transcript/format/record-pieces.ts'
import { matchAll, matchAny, matchOf, parseTerms, type Term } from './words.ts'

export type SearchQuery = {
  /** Words, "phrases", prefix*, paths, identifiers. All of them are wanted; when nothing has all, any will do. */
  readonly words?: string
  readonly kinds?: readonly PieceKind[]
  readonly role?: 'user' | 'assistant'
  /** A tool's name in any case; of a tool behind MCP its last part is enough. */
  readonly tool?: string
  /** A file or folder that a call names: whole, or any run of its parts; `*` stands for anything within a part. */
  readonly path?: string
  readonly epoch?: number
  /** Milliseconds since 1970, both included. */
  readonly since?: number
  readonly until?: number
  /** Best first when there are words; newest first otherwise. */
  readonly order?: 'best' | 'newest'
  /** 10 when not given, 100 at the most. */
  readonly limit?: number
}

export type Hits = {
  readonly ids: readonly number[]
  readonly terms: readonly Term[]
  /** Whether the matches have all of the words, or some; 'none' when there were no words to look for. */
  readonly matched: 'all' | 'any' | 'none'
}

/**
 * Of a word that is everywhere, so many of the newest matches are ranked: older ones are found when the search is
 * narrowed. To rank all would take a tenth of a second or more in a long history, and say little.
 */
const mostRanked = 1000

/** Ids of up to `count` pieces. */
export function findPieces(sql: DatabaseSync, query: SearchQuery, count: number): Hits {
  const where = conditions(sql, query)
  if (!hasWords(query)) {
    return { ids: where === undefined ? [] : newest(sql, where, count), terms: [], matched: 'none' }
  }
  const terms = parseTerms(query.words)
  if (terms.length === 0 || where === undefined) return { ids: [], terms, matched: 'all' }
  const find = query.order === 'newest' ? newestMatches : isOnePhrase(terms) ? shortestMatches : bestMatches
  const all = find(sql, { match: matchAll(terms), where }, count)
  if (all.length > 0 || terms.length === 1) return { ids: all, terms, matched: 'all' }
  return { ids: find(sql, { match: matchAny(telling(sql, terms)), where }, count), terms, matched: 'any' }
}

type Where = { readonly text: string; readonly values: readonly SQLInputValue[] }
type Wanted = { readonly match: string; readonly where: Where }

/** The words that tell something: those that are not everywhere, or else all of them. */
function telling(sql: DatabaseSync, terms: readonly Term[]): readonly Term[] {
  const count = sql.prepare(
    `SELECT count(*) AS found FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ${mostRanked})`,
  )
  const rare = terms.filter((term) => Number(count.get(matchOf(term))?.found) < mostRanked)
  return rare.length === 0 ? terms : rare
}

function bestMatches(sql: DatabaseSync, { match, where }: Wanted, count: number): readonly number[] {
  const ranked = `SELECT words.rowid AS id, words.rank AS score FROM words ${joined(where)}
    WHERE words MATCH ? ${and(where)} ORDER BY words.rowid DESC LIMIT ${mostRanked}`
  const found = sql.prepare(`SELECT id FROM (${ranked}) ORDER BY score, id DESC LIMIT ?`)
  return idsOf(found.all(match, ...where.values, count))
}

function isOnePhrase(terms: readonly Term[]): boolean {
  return terms.length === 1 && (terms[0]?.text.match(/[\p{L}\p{N}\p{Co}]+/gu)?.length ?? 0) > 1
}

/**
 * A phrase or a path alone: bm25 would go through all its matches a second time to weigh it against the others that are
 * not there. What is left of bm25 then is, but for repetitions, that short texts come first.
 */
function shortestMatches(sql: DatabaseSync, { match, where }: Wanted, count: number): readonly number[] {
  const found = `SELECT p.id, p.length FROM words CROSS JOIN pieces p ON p.id = words.rowid
    WHERE words MATCH ? ${and(where)} ORDER BY words.rowid DESC LIMIT ${mostRanked}`
  const ordered = sql.prepare(`SELECT id FROM (${found}) ORDER BY length, id DESC LIMIT ?`)
  return idsOf(ordered.all(match, ...where.values, count))
}

function newestMatches(sql: DatabaseSync, { match, where }: Wanted, count: number): readonly number[] {
  const found = sql.prepare(`SELECT words.rowid AS id FROM words ${joined(where)}
    WHERE words MATCH ? ${and(where)} ORDER BY words.rowid DESC LIMIT ?`)
  return idsOf(found.all(match, ...where.values, count))
}

function newest(sql: DatabaseSync, where: Where, count: number): readonly number[] {
  const condition = where.text === '' ? '' : `WHERE ${where.text}`
  return idsOf(
    sql.prepare(`SELECT p.id FROM pieces p ${condition} ORDER BY p.id DESC LIMIT ?`).all(...where.values, count),
  )
}

/** The matches lead, whatever the planner thinks: each has one piece, found by its number. */
function joined(where: Where): string {
  return where.text === '' ? '' : 'CROSS JOIN pieces p ON p.id = words.rowid'
}

function and(where: Where): string {
  return where.text === '' ? '' : `AND ${where.text}`
}

function idsOf(rows: readonly unknown[]): readonly number[] {
  return (rows as { readonly id: number }[]).map((row) => row.id)
}

const assistantKinds: readonly PieceKind[] = ['assistant', 'thinking', 'tool-use']

// With words, each match is looked up; without, what is looked for leads to the pieces by their index.
const given = '(SELECT value FROM json_each(?))'
const toolOfMatch = `(SELECT tool FROM calls WHERE id = p.call) IN ${given}`
const callsOfTool = `p.call IN (SELECT id FROM calls WHERE tool IN ${given})`
const pathOfMatch = `EXISTS (SELECT 1 FROM touched WHERE call = p.call AND path IN ${given})`
const callsOfPath = `p.call IN (SELECT call FROM touched WHERE path IN ${given})`

function hasWords(query: SearchQuery): query is SearchQuery & { readonly words: string } {
  return query.words !== undefined && query.words.trim() !== ''
}

/** Undefined when nothing can fulfil them. */
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

/** Whole parts, in a row: `http/rate-limit.ts` and `src/http` match `/home/me/src/http/rate-limit.ts`; `limit.ts` not. */
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

/** Piece by piece, without going back: no pattern can make it slow. */
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
