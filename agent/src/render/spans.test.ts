// Breaking styled text into lines.
import { expect, test } from 'vitest'
import { createSheet } from './sheet.ts'
import { wrapSpans, wrapText } from './spans.ts'
import { charactersOf, columnsOf, cut } from './width.ts'

test('text breaks between words, keeps its line breaks and continues below its indent', () => {
  const indent = { first: '- ', rest: '  ' }
  expect(wrapText('one two three\nfour', 10, indent)).toEqual(['- one two', '  three', '  four'])
})

test('a word that is longer than a line is broken, wide characters counted as two', () => {
  expect(wrapText('see https://example.com/long', 10)).toEqual(['see', 'https://ex', 'ample.com/', 'long'])
  expect(wrapText('日本語のテスト', 6)).toEqual(['日本語', 'のテス', 'ト'])
})

test('each line opens and closes its own colors', () => {
  const sheet = createSheet({ width: 5, isColored: true })
  expect(wrapSpans([{ text: 'ab' }, { text: ' cd ef', style: 'bold' }], sheet)).toEqual([
    'ab\u001b[1m cd\u001b[22m',
    '\u001b[1mef\u001b[22m',
  ])
})

test('an indent may have colors, which take no room', () => {
  const sheet = createSheet({ width: 6, isColored: true })
  const first = sheet.paint('red', '! ')
  expect(wrapSpans([{ text: 'abcd' }], sheet, { first, rest: '  ' })).toEqual([`${first}abcd`])
})

test('what a person sees as one character is counted and cut as one', () => {
  expect(charactersOf('e\u0301👩‍👩‍👧🇩🇪x')).toEqual(['e\u0301', '👩‍👩‍👧', '🇩🇪', 'x'])
  expect(columnsOf('e\u0301👩‍👩‍👧🇩🇪x')).toBe(6)
  expect(cut('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…')
})
