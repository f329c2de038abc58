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
