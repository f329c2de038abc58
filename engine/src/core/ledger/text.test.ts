import { expect, test } from 'vitest'
import { oneLine, sentencesOf, withoutPasted } from './text.ts'

test('foreign text becomes one line without controls, and is cut between characters', () => {
  expect(oneLine('a\r\n\u001b[31mb\u001b[0m\u202e\u0000c', 40)).toBe('a b c')
  expect(oneLine('abc😀def', 5)).toBe('abc…')
  expect(oneLine('\ud800x', 10)).toBe('\ufffdx')
})

test('sentences end where they end, list items stand alone, broken lines are one', () => {
  expect(sentencesOf('Do this. Then that, e.g. now! v1.2 is out\n- one item\n2) another')).toEqual([
    'Do this.',
    'Then that, e.g. now!',
    'v1.2 is out',
    'one item',
    'another',
  ])
  const long = 'this line is long enough to have been broken by an editor and so'
  expect(sentencesOf(`${long}\nit goes on here`)).toEqual([`${long} it goes on here`])
})

test('what was pasted is not what was said', () => {
  const text = 'Look:\n```ts\nnever()\n```\n<file>\nalways\n</file>\n    indented\n> quoted\nDone.'
  expect(
    withoutPasted(text)
      .split('\n')
      .filter((line) => line.trim() !== ''),
  ).toEqual(['Look:', 'Done.'])
})
