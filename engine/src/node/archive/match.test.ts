import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indexable, parseTerms } from '../../core/recall/terms.ts'
import { openDatabase } from './database.ts'
import { matchAll, matchAny } from './find.ts'

/** Whether the typed query finds an indexed text. */
function finds(text: string, typed: string): boolean {
  const sql = openDatabase(undefined)
  sql.prepare('INSERT INTO words (rowid, text) VALUES (1, ?)').run(indexable(text))
  const found = sql.prepare('SELECT rowid FROM words WHERE words MATCH ?').all(matchAll(parseTerms(typed)))
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
  ['ฉันไปตลาดเมื่อวานนี้', 'ตลาด', true],
  ['ฉันไปตลาดเมื่อวานนี้', 'วานตลาด', false],
  ['she painted a sunrise', 'paintings', true],
  ['she painted a sunrise', '"paint"', false],
  ['she painted a sunrise', 'paint*', true],
  ['the heron’s nest', "heron's", true],
  ['the heron’s nest', 'herons', true],
  ['what to do', 'what to do', true],
  ['a heron', 'What is the heron?', true],
  ['call userIds here', 'userId', false],
  ['set MAX_USERS here', 'MAX_USER', false],
])('in %j, %j is found: %j', (text, typed, found) => {
  expect(finds(text, typed)).toBe(found)
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
      find.all(matchAll(terms))
      find.all(matchAny(terms))
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
