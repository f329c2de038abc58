// Finds pieces by words and filters, and orders them. FTS5 gives the frequency of a word relative to the length of the text;
// core/recall/rank.ts ranks. User input never reaches FTS5 as syntax: each word or phrase is a string.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  frequencyWeight,
  type Hit,
  maxFrequencyWeight,
  rank,
  type Searched,
  type TermHits,
} from '../../core/recall/rank.ts'
import { parseTerms, type Term, wordsOf } from '../../core/recall/terms.ts'
import type { SearchQuery } from '../../core/session/recall-text.ts'
import { type TextKind, textKinds } from '../../core/transcript/format/record-texts.ts'
import { sessionOf } from './files.ts'

/** Whether the first match has all words (in any form, without "the", "what" and the like) or some; 'none' without words. */
export type Matched = 'all' | 'any' | 'none'

export type FoundPieces = {
  /** Best or newest first. */
  readonly ids: readonly number[]
  readonly terms: readonly Term[]
  readonly matched: Matched
}

/**
 * A word in more texts than this is common. If all words are common, only this many of the newest matches are ranked: ranking all
 * of them takes a tenth of a second or more and gains little.
 */
const rankLimit = 1000

export function findPieces(sql: DatabaseSync, query: SearchQuery, count: number): FoundPieces {
  const words = query.words?.trim() ?? ''
  const asked: Selection = { terms: parseTerms(words), where: conditionFor(sql, query), count }
  const { terms } = asked
  if (words === '') return { ids: newest(sql, asked), terms, matched: 'none' }
  if (terms.length === 0) return { ids: [], terms, matched: 'all' }
  if (query.order === 'newest') return newestWith(sql, asked)
  return terms.length === 1 ? withOne(sql, asked) : withSeveral(sql, asked)
}

type SqlCondition = { readonly text: string; readonly values: readonly SQLInputValue[] }
type Selection = { readonly terms: readonly Term[]; readonly where: SqlCondition; readonly count: number }

function newest(sql: DatabaseSync, { where, count }: Selection): readonly number[] {
  const found = sql.prepare(`SELECT p.id FROM pieces p WHERE ${where.text} ORDER BY p.id DESC LIMIT ?`)
  return idsOf(found.all(...where.values, count))
}

/** By time, texts with one common word would hide all others: matches have all words or, if none does, a rare one. */
function newestWith(sql: DatabaseSync, asked: Selection): FoundPieces {
  const { terms } = asked
  const all = idsMatching(sql, matchAll(terms), { ...asked, order: 'newest' })
  if (all.length > 0 || terms.length === 1) return { ids: all, terms, matched: 'all' }
  const rare = terms.filter((term) => textsWith(sql, matchAny([term])) < rankLimit)
  const match = matchAny(rare.length === 0 ? terms : rare)
  return { ids: idsMatching(sql, match, { ...asked, order: 'newest' }), terms, matched: 'any' }
}

/** Texts with the word as typed come before texts with another form of it. */
function withOne(sql: DatabaseSync, asked: Selection): FoundPieces {
  const { terms, count } = asked
  const order = terms.flatMap(wordsOf).length > 1 ? 'shortest' : 'best'
  const [typed = '', ...forms] = terms.flatMap(matchesOf)
  const ids = new Set(idsMatching(sql, typed, { ...asked, order }))
  if (ids.size < count && forms.length > 0)
    for (const id of idsMatching(sql, forms.join(' OR '), { ...asked, order })) ids.add(id)
  return { ids: [...ids].slice(0, count), terms, matched: 'all' }
}

/**
 * The sort order of the newest matches. A single phrase or path is sorted by length, because bm25 would scan all its matches
 * twice to compare it with nothing, and its remaining effect is that short texts come first.
 */
const scores = { best: 'words.rank', shortest: 'p.characters', newest: '0' } as const

type OrderedSelection = Selection & { readonly order: keyof typeof scores }

function idsMatching(sql: DatabaseSync, match: string, { where, count, order }: OrderedSelection): readonly number[] {
  // CROSS JOIN makes SQLite start from the matches.
  const found = `SELECT p.id, ${scores[order]} AS score FROM words CROSS JOIN pieces p ON p.id = words.rowid
    WHERE words MATCH ? AND ${where.text} ORDER BY words.rowid DESC LIMIT ${rankLimit}`
  const ordered = sql.prepare(`SELECT id FROM (${found}) ORDER BY score, id DESC LIMIT ?`)
  return idsOf(ordered.all(match, ...where.values, count))
}

function idsOf(rows: readonly unknown[]): readonly number[] {
  return (rows as { readonly id: number }[]).map((row) => row.id)
}

/** The existing forms of a term, and the number of texts with them. */
type CountedTerm = { readonly term: Term; readonly forms: readonly CountedForm[]; readonly texts: number }
type CountedForm = { readonly match: string; readonly texts: number }

function withSeveral(sql: DatabaseSync, asked: Selection): FoundPieces {
  const { terms, count } = asked
  const counted = terms.map((term) => countedTerm(sql, term))
  const rare = counted.filter(({ texts }) => texts > 0 && texts <= rankLimit)
  // If all words are common, texts with all of them are chosen by FTS5's rank.
  const all = rare.length > 0 ? [] : idsMatching(sql, matchAll(terms), { ...asked, order: 'best' })
  if (all.length >= count) return { ids: all, terms, matched: 'all' }
  const archive = searchedIn(sql)
  const hits = createHits(sql, asked.where, archive)
  const anyRare = rare.length === 0 ? undefined : matchAny(rare.map(({ term }) => term))
  const ranked = rank(
    counted.map((one) => (rare.includes(one) ? hits.ofRare(one) : hits.ofCommon(one, anyRare))),
    archive,
  )
  const ids = new Set([...all, ...ranked.map(({ id }) => id)])
  const hasAll = all.length > 0 || ranked[0]?.hasAll !== false
  return { ids: [...ids].slice(0, count), terms, matched: hasAll ? 'all' : 'any' }
}

function countedTerm(sql: DatabaseSync, term: Term): CountedTerm {
  const forms = matchesOf(term)
    .map((match) => ({ match, texts: textsWith(sql, match) }))
    .filter(({ texts }) => texts > 0)
  return { term, forms, texts: forms.reduce((sum, { texts }) => sum + texts, 0) }
}

function textsWith(sql: DatabaseSync, match: string): number {
  return Number(sql.prepare('SELECT count(*) AS texts FROM words WHERE words MATCH ?').get(match)?.texts)
}

type SearchedArchive = Searched & { readonly sessionOf: (source: number) => number }

function searchedIn(sql: DatabaseSync): SearchedArchive {
  const texts = Number(sql.prepare('SELECT count(*) AS texts FROM words_docsize').get()?.texts)
  const sources = sql.prepare('SELECT id, name, texts FROM sources').all() as unknown as {
    readonly id: number
    readonly name: string
    readonly texts: number
  }[]
  const numbers = new Map<string, number>()
  const bySource = new Map<number, number>()
  const sessions = new Map<number, number>()
  for (const source of sources) {
    const name = sessionOf(source.name)
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    bySource.set(source.id, number)
    sessions.set(number, (sessions.get(number) ?? 0) + source.texts)
  }
  return { texts, sessions, sessionOf: (source) => bySource.get(source) ?? -1 }
}

type HitRow = {
  readonly id: number
  readonly source: number
  readonly place: number
  readonly kind: TextKind
  readonly rank: number
}

function createHits(sql: DatabaseSync, where: SqlCondition, { texts: all, sessionOf }: SearchedArchive) {
  const select = (score: string, limit: string) =>
    sql.prepare(`SELECT p.id, p.source, p.place, p.kind, ${score} AS rank FROM words CROSS JOIN pieces p
      ON p.id = words.rowid WHERE words MATCH ? AND ${where.text} ${limit}`)
  const hitOf = ({ id, source, place, kind }: HitRow, weight: number): Hit => {
    return { id, place, kind, file: source, session: sessionOf(source), weight }
  }
  const scored = select('words.rank', '')
  const having = select('0', '')
  const newestHaving = select('0', `ORDER BY words.rowid DESC LIMIT ${rankLimit}`)
  return {
    ofRare: ({ term, forms, texts }: CountedTerm): TermHits => {
      const weights = new Map<HitRow, number>()
      const byId = new Map<number, HitRow>()
      for (const form of forms) {
        const rarity = rarityInFts5(form.texts, all)
        for (const row of scored.all(form.match, ...where.values) as unknown as HitRow[]) {
          const known = byId.get(row.id) ?? row
          byId.set(row.id, known)
          weights.set(known, Math.min(maxFrequencyWeight, (weights.get(known) ?? 0) - row.rank / rarity))
        }
      }
      return { hits: [...weights].map(([row, weight]) => hitOf(row, weight)), texts, isRequired: term.isExact }
    },
    /** Only in texts with a rare word, if there is one. It counts as once in an average text. */
    ofCommon: ({ term, texts }: CountedTerm, anyRare: string | undefined): TermHits => {
      const own = matchAny([term])
      const match = anyRare === undefined ? own : `(${own}) AND (${anyRare})`
      const rows = texts === 0 ? [] : (anyRare === undefined ? newestHaving : having).all(match, ...where.values)
      const hits = (rows as unknown as HitRow[]).map((row) => hitOf(row, frequencyWeight(1, 1)))
      return { hits, texts, isRequired: term.isExact }
    },
  }
}

/**
 * FTS5's rank of one word is its rarity, as bm25() defines it, times its frequency relative to the length. Only the frequency is
 * used, because all forms of a word share one rarity.
 */
function rarityInFts5(having: number, all: number): number {
  const ratio = (all - having + 0.5) / (having + 0.5)
  return ratio > 1 ? Math.log(ratio) : 1e-6
}

const assistantKinds: readonly TextKind[] = ['assistant', 'thinking', 'tool-use']

const valueList = '(SELECT value FROM json_each(?))'
const ofTool = `p.call IN (SELECT id FROM calls WHERE tool IN ${valueList})`
const ofPath = `p.call IN (SELECT call FROM touched WHERE path IN ${valueList})`

export function conditionFor(sql: DatabaseSync, query: SearchQuery): SqlCondition {
  const { kinds: named = textKinds, role, tool, path } = query
  const kinds = textKinds.filter(
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
  const isAll = kinds.length === textKinds.length
  const ofKind = isAll ? 'p.kind IS NOT NULL' : `p.kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`
  return {
    text: [ofKind, ...used.map(([text]) => text)].join(' AND '),
    values: used.flatMap(([, value]) => value ?? []),
  }
}

/** The matching values of a column, as JSON. */
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

/** Without backtracking, so that no pattern is slow. */
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

/** An FTS5 string, in which only the quotation mark has a meaning. */
function stringOf(text: string): string {
  return `"${text.replaceAll('"', ' ')}"`
}

/** One expression per form of the term. The typed form comes first. */
export function matchesOf({ text, isPrefix, forms }: Term): readonly string[] {
  return [`${stringOf(text)}${isPrefix ? ' *' : ''}`, ...forms.map(stringOf)]
}

export function matchAny(terms: readonly Term[]): string {
  return terms.flatMap(matchesOf).join(' OR ')
}

export function matchAll(terms: readonly Term[]): string {
  return terms.map((term) => `(${matchAny([term])})`).join(' AND ')
}
