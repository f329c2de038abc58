// The words by which an entry is found. PostgreSQL's own parsers are made for prose: they take a path or an identifier for
// one word. These words are a first choice; whether an entry really has what was asked for is checked on its text.
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../core/message/json.ts'
import { headOf } from '../../core/text/cut.ts'
import { piecesOf } from '../../core/transcript/format/record-pieces.ts'

/** A tsvector holds a megabyte; this stays below it even if every character takes four bytes. */
const mostCharacters = 200_000
const longestWord = 40
const mostWordsAsked = 32
const longestQuery = 4_000

/** Scripts that put no spaces between words: every character is a word. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/gu
const word = /[\p{L}\p{N}\p{M}]+/gu

/** With one word for the session and one for each tool result, which no text can contain: they have a colon. */
export function wordsOf(record: JsonObject, session: string): readonly string[] {
  const found = new Set([sessionWord(session)])
  let characters = 0
  for (const { kind, text, toolUseId } of piecesOf(record)) {
    if (kind === 'tool-result' && toolUseId !== undefined) found.add(resultWord(toolUseId))
    if (kind === 'system') continue
    for (const each of wordsIn(text)) {
      if (found.has(each)) continue
      characters += each.length
      if (characters > mostCharacters) return [...found]
      found.add(each)
    }
  }
  return [...found]
}

/** A tsquery; undefined when there is no word to look for. */
export function queryFor(words: string, session: string): string | undefined {
  const asked = headOf(words, longestQuery).split(/\s+/).slice(0, mostWordsAsked)
  const wanted = new Set(asked.flatMap((each) => [...plainWordsIn(each)]))
  if (wanted.size === 0) return undefined
  return [`'${sessionWord(session)}'`, ...[...wanted].map((each) => `'${each}':*`)].join(' & ')
}

export function resultQuery(toolUseId: string, session: string): string {
  return `'${sessionWord(session)}' & '${resultWord(toolUseId)}'`
}

/** Identifiers both whole and in parts: parseRecord is found by parse, record and parserecord. */
function* wordsIn(text: string): Generator<string> {
  yield* plainWordsIn(text)
  yield* plainWordsIn(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
}

function* plainWordsIn(text: string): Generator<string> {
  for (const [found] of text.toLowerCase().replace(unspaced, ' $& ').matchAll(word)) yield headOf(found, longestWord)
}

/** So that the index itself separates sessions: a word that is common everywhere costs no more than in one session. */
function sessionWord(session: string): string {
  return `s:${shortHash(session)}`
}

function resultWord(toolUseId: string): string {
  return `r:${shortHash(toolUseId)}`
}

function shortHash(text: string): string {
  return createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, 32)
}
