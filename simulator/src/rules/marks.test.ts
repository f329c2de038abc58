import { expect, test } from 'vitest'
import { lastCacheable } from './marks.ts'

test('neither thinking nor cache edits can have a mark: the block before them has it', () => {
  const text = { type: 'text', text: 'Hi.' }
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' }
  const edits = { type: 'cache_edits', edits: [] }
  expect(
    [
      [text, thinking],
      [text, edits],
      [text, edits, thinking],
    ].map((blocks) => lastCacheable(blocks)),
  ).toEqual(Array(3).fill(text))
  expect(lastCacheable([thinking, edits])).toBe(undefined)
})
