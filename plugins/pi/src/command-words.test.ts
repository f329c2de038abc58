import { expect, test } from 'vitest'
import { completionsOf, usageText } from './command-words.ts'

test('words are completed until they are typed whole', () => {
  expect(['', 'l', 'los', 'lost', 'lost ', 'x'].map(completionsOf)).toEqual([
    ['context', 'lost', 'recall', 'undo'],
    ['lost'],
    ['lost'],
    [],
    [],
    [],
  ])
})

test('only recall takes words', () => {
  expect(usageText).toBe('Type /everlong followed by one of: context, lost, recall WORDS, undo.')
})
