import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDatabase } from './database.ts'
import { indexable, matchExpression, parseTerms } from './words.ts'

/** Whether a text, put into the index, is found by what is typed. */
function finds(text: string, typed: string): boolean {
  const sql = openDatabase(undefined)
  sql.prepare('INSERT INTO words (rowid, text) VALUES (1, ?)').run(indexable(text))
  const found = sql
    .prepare('SELECT rowid FROM words WHERE words MATCH ?')
    .all(matchExpression(parseTerms(typed), 'AND'))
  sql.close()
  return found.length === 1
}

test.each([
  ['in src/http/rate-limit.ts line 40', 'src/http/rate-limit.ts', true],
  ['in src/http/rate-limit.ts line 40', 'rate-limit.ts', true],
  ['in src/http/rate-limit.ts line 40', 'http/limit.ts', false],
  ['C:\\Users\\me\\rate-limit.ts', 'Users\\me', true],
  ['call fooBar here', 'fooBar', true],
  ['call fooBar here', 'FOOBAR', true],
  ['call fooBar here', 'bar', true],
  ['call fooBar here', '"foo bar"', true],
  ['an HTTPServerError came', 'server', true],
  ['an HTTPServerError came', 'HTTPServerError', true],
  ['failed with E_CONFLICT twice', 'E_CONFLICT', true],
  ['failed with E_CONFLICT twice', 'conflict', true],
  ['failed with E_CONFLICT twice', 'E_OTHER', false],
  ['the migration of the schema', 'migr*', true],
  ['the migration of the schema', 'migr', false],
  ['the migration of the schema', 'mi*', true],
  ['the migration of the schema', 'm*', false],
  ['the migration of the schema', '"of the schema"', true],
  ['the migration of the schema', '"the of schema"', false],
  ['the migration of the schema', '"of the sch"*', true],
  ['a café in Zürich', 'cafe zurich', true],
  ['version 2.1.39 of it', '2.1.39', true],
  ['会話の圧縮について話す', '圧縮', true],
  ['会話の圧縮について話す', '会話の圧縮', true],
  ['会話の圧縮について話す', '圧', true],
  ['会話の圧縮について話す', 'す', true],
  ['会話の圧縮について話す', '圧会', false],
  ['会話の圧縮について話す', '会話 圧縮', true],
  ['압축을 합니다', '압축', true],
  ['压缩rateLimit函数', '函数', true],
  ['压缩rateLimit函数', 'limit压缩', true],
  ['𠮷野家で食べる', '野家', true],
  ['ファイルを編集', 'ファイル', true],
])('in %j, %j is found: %j', (text, typed, found) => {
  expect(finds(text, typed)).toBe(found)
})

test('a long run without spaces is looked for by its first characters, which are enough', () => {
  const [term] = parseTerms('会話'.repeat(100))
  expect(term?.text.split(' ')).toEqual(Array.from({ length: 32 }, (_, at) => (at % 2 ? '話会' : '会話')))
  expect(finds('会話'.repeat(100), '会話'.repeat(100))).toBe(true)
  expect(finds('会話'.repeat(10), '会話'.repeat(100))).toBe(false)
})

test('a long phrase is looked for by its first 32 words, which are enough', () => {
  const [term] = parseTerms(`${'1,'.repeat(100)}*`)
  expect(term).toEqual({ text: '1,'.repeat(32).slice(0, -1), isPrefix: false })
  expect(parseTerms(`${'a/'.repeat(31)}ab*`)).toEqual([{ text: `${'a/'.repeat(31)}ab`, isPrefix: true }])
  expect(parseTerms('a'.repeat(300))).toEqual([{ text: 'a'.repeat(256), isPrefix: false }])
})

test('a word that is typed twice is looked for once', () => {
  expect(parseTerms('lock Lock "lock" lock*')).toEqual([
    { text: 'lock', isPrefix: false },
    { text: 'lock', isPrefix: true },
  ])
  expect(parseTerms('a '.repeat(2000))).toEqual([{ text: 'a', isPrefix: false }])
})

test('encoded bytes are left out, and what stands around them is found', () => {
  const text = `before ${'QUJD'.repeat(200)} after`
  expect(indexable(text)).toBe('before   after')
})

test('bytes shorter than that, and right up to their length, are told apart', () => {
  const run = (length: number) => `a ${'x'.repeat(length)} b ${'y'.repeat(length)}!`
  expect(indexable(run(399))).toBe(run(399))
  expect(indexable(run(400))).toBe('a   b  !')
  expect(indexable('x'.repeat(400))).toBe(' ')
})

test('a run without spaces is cut into the same pairs however long it is', () => {
  const characters = Array.from({ length: 4099 }, (_, at) => String.fromCodePoint(at % 7 === 0 ? 0x20bb7 : 0x4e00 + at))
  const pairs = characters.map((character, at) => character + (characters[at + 1] ?? ''))
  expect(indexable(characters.join('')).trim().split(/ +/)).toEqual(pairs)
})

test('whatever is typed makes a match that FTS5 takes', () => {
  const sql = openDatabase(undefined)
  const find = sql.prepare('SELECT rowid FROM words WHERE words MATCH ?')
  const syntax = fc.constantFrom(
    '"',
    '*',
    '(',
    ')',
    'AND',
    'OR',
    'NOT',
    'NEAR(',
    ':',
    '^',
    '+',
    '-',
    '{',
    '}',
    '\0',
    "'",
    ';',
  )
  const typed = fc
    .array(fc.oneof(syntax, fc.string({ unit: 'binary', maxLength: 8 }), fc.constant(' ')))
    .map((all) => all.join(''))
  fc.assert(
    fc.property(typed, (text) => {
      const terms = parseTerms(text)
      if (terms.length === 0) return
      find.all(matchExpression(terms, 'AND'))
      find.all(matchExpression(terms, 'OR'))
    }),
    { numRuns: 500 },
  )
  sql.close()
})

test('every word of a text finds it', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9_]{1,12}$/).filter((text) => /[A-Za-z0-9]/.test(text))
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(), (words, pick) => {
      expect(finds(words.join(' '), words[pick % words.length]!)).toBe(true)
    }),
    { numRuns: 60 },
  )
})
