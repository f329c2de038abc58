import { expect, test } from 'vitest'
import { requestOf, textAnswered, user } from '../script/testing.ts'
import { cut, headOf } from './cut.ts'
import { summarizer } from './summarizer.ts'

const faces = '😀'.repeat(600)

test('no cut splits a surrogate pair, and none is longer than it may be', () => {
  for (const text of [faces, `x${faces}`]) {
    for (let most = 10; most < 40; most++) {
      for (const made of [cut(text, most), headOf(text, most)]) {
        expect([made.isWellFormed(), made.length <= most]).toEqual([true, true])
      }
    }
  }
})

test.each([faces, `x${faces}`])('a summary of long text outside the basic plane is well formed (%#)', async (words) => {
  const request = requestOf([
    user(words),
    user('Write a detailed summary of the conversation, inside <summary></summary>.'),
  ])
  const written = await textAnswered(summarizer(), request)
  expect([written.includes('😀'), written.isWellFormed()]).toEqual([true, true])
})
