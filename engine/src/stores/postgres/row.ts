// A record as rows, and back. The body is the record's JSON without its large strings, which are kept once in a session by
// their hash. Where they belong is kept apart from the body, so that no text can imitate a reference. With it go the words by
// which the entry is found: PostgreSQL's own parsers are made for prose and take a path or an identifier for one word.
import { createHash } from 'node:crypto'
import { isObject, type JsonObject, parseObject } from '../../core/message/json.ts'
import { noPosition, type StoredRecord } from '../../core/ports/session-store.ts'
import { isUnspaced, type Term } from '../../core/recall/terms.ts'
import { headOf as cutTo } from '../../core/text/cut.ts'
import { readHead } from '../../core/transcript/format/entry.ts'
import { textsOf } from '../../core/transcript/format/record-texts.ts'

export type EntryRow = {
  readonly id: string
  readonly boundary: boolean
  readonly body: string
  /** `3:HASH,7:HASH`: indexes and hashes of the record's large strings. */
  readonly cuts: string
  /** Words separated by spaces. */
  readonly words: string
}

/** A large string as JSON, which can hold characters that a text column cannot: NUL and lone surrogates. */
export type Blob = { readonly hash: string; readonly body: string }

/** In characters. For shorter strings a separate row costs more than it saves. */
const minLargeString = 2_000

export function rowOf({ id, record }: StoredRecord, session: string): { row: EntryRow; blobs: readonly Blob[] } {
  const blobs: Blob[] = []
  const cuts: string[] = []
  let count = 0
  const small = mapStrings(record, (text) => {
    const at = count++
    if (text.length < minLargeString) return text
    const body = JSON.stringify(text)
    const hash = hashOf(body)
    blobs.push({ hash, body })
    cuts.push(`${at}:${hash}`)
    return ''
  })
  const head = readHead({ record, position: noPosition })
  const boundary = head.boundary !== undefined && !head.sidechain
  const words = wordsOf(record, session).join(' ')
  return { row: { id: storedId(id), boundary, body: JSON.stringify(small), cuts: cuts.join(','), words }, blobs }
}

export function recordOf(body: string, cuts: string, blobs: ReadonlyMap<string, string>): JsonObject {
  const record = parseObject(body) ?? {}
  if (cuts === '') return record
  const large = new Map(cutsIn(cuts).map(({ at, hash }) => [at, blobs.get(hash)]))
  let count = 0
  return mapStrings(record, (text) => {
    const blob = large.get(count++)
    return blob === undefined ? text : String(JSON.parse(blob))
  })
}

export function hashesIn(cuts: string): readonly string[] {
  return cutsIn(cuts).map(({ hash }) => hash)
}

function cutsIn(cuts: string): readonly { readonly at: number; readonly hash: string }[] {
  if (cuts === '') return []
  return cuts.split(',').map((cut) => {
    const [at, hash = ''] = cut.split(':')
    return { at: Number(at), hash }
  })
}

/** Visits the strings in the order in which JSON writes them. */
function mapStrings(record: JsonObject, change: (text: string) => string): JsonObject {
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return change(value)
    if (Array.isArray(value)) return value.map(visit)
    return isObject(value) ? visitObject(value) : value
  }
  // fromEntries defines fields, so a field named __proto__ is like any other.
  const visitObject = (value: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item)]))
  return visitObject(record)
}

const plainId = /^[\x21-\x7e]{1,200}$/

/** Ids are untrusted. An id that a text column cannot hold is replaced by its hash. */
export function storedId(id: string): string {
  return plainId.test(id) ? id : `hash ${hashOf(JSON.stringify(id))}`
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A tsvector holds a megabyte; this stays below it even if every character takes four bytes. */
const maxCharacters = 200_000
const maxWordLength = 40

/** Scripts without spaces between words. Every character is a word. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/gu
const word = /[\p{L}\p{N}\p{M}]+/gu

/** Includes one word for the session and one for each tool result. No text can contain them, because they have a colon. */
export function wordsOf(record: JsonObject, session: string): readonly string[] {
  const found = new Set([sessionWord(session)])
  let characters = 0
  for (const { kind, text, toolUseId } of textsOf(record)) {
    if (kind === 'tool-result' && toolUseId !== undefined) found.add(resultWord(toolUseId))
    if (kind === 'system') continue
    for (const each of wordsIn(text)) {
      if (found.has(each)) continue
      characters += each.length
      if (characters > maxCharacters) return [...found]
      found.add(each)
    }
  }
  return [...found]
}

/**
 * A tsquery for entries that may match the term. The words of a phrase may be anywhere in them, and a word may be longer, because
 * Korean appends to words without a space.
 */
export function queryFor(term: Term, session: string): string {
  return `'${sessionWord(session)}' & ${anywhere(term)}`
}

/** The query for a term in all sessions. */
export function anywhere(term: Term): string {
  const words = new Set(plainWordsIn(isUnspaced(term.text) ? withoutPairs(term.text) : term.text))
  const typed = [...words].map(prefixQuery).join(' & ')
  const forms = [`(${typed})`, ...term.forms.map((form) => `'${form}'`)]
  return `(${forms.join(' | ')})`
}

/** Older entries were indexed as written, with accents composed or not. */
function prefixQuery(word: string): string {
  const apart = word.normalize('NFD')
  return apart === word ? `'${word}':*` : `('${word}':* | '${apart}':*)`
}

/** 会話 話の → 会話の */
function withoutPairs(text: string): string {
  const [first = '', ...others] = text.split(' ')
  return first + others.map((pair) => [...pair].at(-1)).join('')
}

export function resultQuery(toolUseId: string, session: string): string {
  return `'${sessionWord(session)}' & '${resultWord(toolUseId)}'`
}

/** Identifiers both whole and in parts: parse, record and parserecord all find parseRecord. */
function* wordsIn(text: string): Generator<string> {
  yield* plainWordsIn(text)
  yield* plainWordsIn(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
}

function* plainWordsIn(text: string): Generator<string> {
  for (const [found] of text.normalize('NFC').toLowerCase().replace(unspaced, ' $& ').matchAll(word))
    yield cutTo(found, maxWordLength)
}

/** Lets the index itself separate sessions, so that a word that is common in all sessions costs no more than in one. */
function sessionWord(session: string): string {
  return `s:${shortHash(session)}`
}

function resultWord(toolUseId: string): string {
  return `r:${shortHash(toolUseId)}`
}

function shortHash(text: string): string {
  return hashOf(JSON.stringify(text)).slice(0, 32)
}
