import { expect, test } from 'vitest'
import { changeText } from './change-text.ts'

test('a text that overlaps with itself occurs once where it can be replaced once', () => {
  expect(changeText('f(){{}}}', { before: '}}', after: '}', isAll: false })).toEqual({
    type: 'changed',
    text: 'f(){{}}',
    count: 1,
  })
  expect(changeText('aaaa', { before: 'aa', after: 'b', isAll: true })).toEqual({
    type: 'changed',
    text: 'bb',
    count: 2,
  })
  expect(changeText('aaaa', { before: 'aa', after: 'b', isAll: false })).toMatchObject({ type: 'refused' })
})

test('the first ten places of an ambiguous text are named', () => {
  const changed = changeText('a\n'.repeat(12), { before: 'a', after: 'b', isAll: false })
  expect(changed).toEqual({
    type: 'refused',
    why: 'old_string occurs 12 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10). Include more of the text around it, or set replace_all.',
  })
})

test('an edit may have the line ends of the file or plain ones; the file keeps its own', () => {
  const changed = { type: 'changed', text: 'one\r\nthree\r\n', count: 1 }
  const edits = [
    { before: 'one\ntwo', after: 'one\nthree' },
    { before: 'one\r\ntwo', after: 'one\r\nthree' },
    { before: 'one\r\ntwo', after: 'one\nthree' },
  ]
  for (const edit of edits) expect(changeText('one\r\ntwo\r\n', { ...edit, isAll: false })).toEqual(changed)
})
