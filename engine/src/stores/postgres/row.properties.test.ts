// A record survives its conversion to rows and back, and every word of it finds it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { noPosition } from '../../core/ports/session-store.ts'
import { parseTerms } from '../../core/recall/terms.ts'
import { recallFrom } from '../../core/session/recall-entries.ts'
import { hashesIn, queryFor, recordOf, rowOf, wordsOf } from './row.ts'

const large = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `${text}|`.repeat(2_100))
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), large)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', '7', '')), tie('any'), {
    maxKeys: 4,
  }),
})).object

const isJson = (record: unknown) => JSON.stringify(JSON.parse(JSON.stringify(record))) === JSON.stringify(record)

test('every record comes back, byte for byte', () => {
  fc.assert(
    fc.property(value.filter(isJson), (given) => {
      const record = JSON.parse(JSON.stringify(given)) as JsonObject
      const { row, blobs } = rowOf({ id: 'a', record }, 'session')
      const stored = new Map(blobs.map(({ hash, body }) => [hash, body]))
      const storable = [row.body, row.cuts, row.words, ...stored.values()]
      expect(storable.every((each) => each.isWellFormed() && !each.includes('\0'))).toBe(true)
      expect(hashesIn(row.cuts).every((hash) => stored.has(hash))).toBe(true)
      expect(JSON.stringify(recordOf(row.body, row.cuts, stored))).toBe(JSON.stringify(record))
    }),
    { numRuns: 200 },
  )
})

test('whatever a search in memory finds by whole words, the index lets through', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.constantFrom(
      'src/core/parse.ts',
      'parseRecord',
      'snake_case',
      '東京',
      'ΟΔΟΣ',
      "it's",
      'painted',
      'herons',
      'ตลาดเมื่อวาน',
      'a'.repeat(90),
      '--flag=1',
    ),
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(), (words, at) => {
      const record = { type: 'user', uuid: 'u', message: { role: 'user', content: words.join(' ') } }
      const asked = words[at % words.length] ?? ''
      const isFound = recallFrom([{ record, position: noPosition }], asked, 10).matches.length > 0
      const queries = parseTerms(asked).map((term) => queryFor(term, 'session'))
      if (isFound) expect(queries.filter((query) => matches(query, wordsOf(record, 'session')))).not.toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('a boundary of the conversation begins a window, one of a sub-agent does not', () => {
  const record = { type: 'system', subtype: 'compact_boundary', uuid: 'b', compactMetadata: { trigger: 'auto' } }
  expect(rowOf({ id: 'b', record }, 's').row.boundary).toBe(true)
  expect(rowOf({ id: 'b', record: { ...record, isSidechain: true } }, 's').row.boundary).toBe(false)
})

/** Evaluates `words @@ query` for the queries used here: 'session' & (('a':* & 'b':*) | 'c'). */
function matches(query: string, words: readonly string[]): boolean {
  const said = query.replace(/'([^']*)'(:\*)?/g, (_, wanted: string, isPrefix?: string) =>
    String(words.some((each) => (isPrefix ? each.startsWith(wanted) : each === wanted))),
  )
  if (!/^[a-z &|()]+$/.test(said)) throw new Error(`This is no query: ${query}`)
  return isTrue(said)
}

/** Evaluates true, false, &, | and parentheses, innermost first. */
function isTrue(said: string): boolean {
  const [inner, text = ''] = /\(([^()]*)\)/.exec(said) ?? []
  if (inner !== undefined) return isTrue(said.replace(inner, String(isTrue(text))))
  return said.split('|').some((part) => part.split('&').every((each) => each.trim() === 'true'))
}
