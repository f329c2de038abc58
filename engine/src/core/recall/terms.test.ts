import { expect, test } from 'vitest'
import { indexable, parseTerms } from './terms.ts'

const exact = (text: string) => ({ text, isPrefix: false, isExact: true, forms: [] })
const typed = (query: string) => parseTerms(query).map(({ text }) => text)

test.each([
  ['When did Caroline go to the LGBTQ support group?', ['Caroline', 'go', 'LGBTQ', 'support', 'group']],
  ["What's Melanie's and the kids' plan, and why wasn't it done?", ['Melanie', 'kids', 'plan', 'done']],
  ['who are you?', ['who', 'are', 'you']],
  ['is "the plan" in src/the/plan.ts?', ['the plan', 'src/the/plan.ts?']],
  ['the*', ['the']],
  ['why 会話の圧縮', ['会話 話の の圧 圧縮']],
  ['?! … "" *', []],
])('%j is searched as %j', (query, texts) => {
  expect(typed(query)).toEqual(texts)
})

test('a word that is typed twice, or in two forms, is searched once; in quotes or with a star it is another term', () => {
  expect(
    parseTerms('lock Lock locking "lock" "LOCK" lock*').map(({ text, isPrefix, isExact }) => [text, isPrefix, isExact]),
  ).toEqual([
    ['lock', false, false],
    ['lock', false, true],
    ['lock', true, true],
  ])
  expect(typed('a '.repeat(2000))).toEqual(['a'])
})

test('a query has at most 32 terms, not counting words that carry no topic', () => {
  const names = Array.from({ length: 40 }, (_, at) => `word${at}`)
  expect(typed(names.join(' of the '))).toEqual(names.slice(0, 32))
})

test('a long run without spaces is looked for by its first characters, which are enough', () => {
  const [term] = parseTerms('会話'.repeat(100))
  expect(term?.text.split(' ')).toEqual(Array.from({ length: 32 }, (_, at) => (at % 2 ? '話会' : '会話')))
})

test('a long phrase is looked for by its first 32 words, which are enough', () => {
  const [term] = parseTerms(`${'1,'.repeat(100)}*`)
  expect(term).toEqual({ ...exact('1,'.repeat(32).slice(0, -1)), isPrefix: false })
  expect(parseTerms(`${'a/'.repeat(31)}ab*`)).toEqual([{ ...exact(`${'a/'.repeat(31)}ab`), isPrefix: true }])
  expect(parseTerms('a'.repeat(300))).toEqual([{ ...exact('a'.repeat(256)), isExact: false }])
})

test('encoded bytes are left out, and the text around them is found', () => {
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
