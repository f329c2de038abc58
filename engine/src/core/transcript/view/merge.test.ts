import { expect, test } from 'vitest'
import { shapeOf } from '../../message/shape.ts'
import { mergedMessages, mergePieces } from './merge.ts'

test('an attachment that was written between two parts of one answer comes behind the whole answer', () => {
  const part = (text: string) => ({
    role: 'assistant' as const,
    origin: 'assistant' as const,
    messageId: 'm1',
    content: [{ type: 'text', text }],
  })
  const merged = mergedMessages([
    { role: 'user', origin: 'human', content: 'Go.' },
    part('First I look.'),
    { role: 'user', origin: 'attachment', attachment: 'todo', content: 'two tasks' },
    part('Then I write.'),
  ])
  expect(shapeOf(merged)).toBe('u a[t2] u')
})

test('a message of which one part is pinned is pinned', () => {
  const piece = (isPinned: boolean) => ({
    row: 0,
    message: { role: 'user', origin: 'human', content: 'Go.' } as const,
    uuids: [],
    edits: [],
    isPinned,
  })
  const pinned = (...parts: readonly boolean[]) => mergePieces(parts.map(piece)).map(({ source }) => source.isPinned)
  expect([pinned(true, false), pinned(false, true), pinned(false, false)]).toEqual([[true], [true], [false]])
})
