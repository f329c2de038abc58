import { expect, test } from 'vitest'
import { plainWords } from './plain-words.ts'

test('marks, case and spacing do not matter, but every letter does', () => {
  expect(plainWords('Never  push to *main*!')).toBe(' never push to main ')
  expect(plainWords('never push to MAIN')).toBe(plainWords('Never  push to *main*!'))
  expect(plainWords('Never push to maine')).not.toBe(plainWords('Never push to main'))
})
