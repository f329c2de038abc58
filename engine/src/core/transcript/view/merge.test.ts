import { expect, test } from 'vitest'
import { shapeOf } from '../../message/shape.ts'
import { mergedMessages, mergePieces } from './merge.ts'

test('an attachment that was written between two parts of one answer comes after the whole answer', () => {
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

test('of two reports for one answer the larger counts, and of equal ones the later', () => {
  const part = (text: string, usage: object) =>
    ({ role: 'assistant', origin: 'assistant', messageId: 'm1', content: [{ type: 'text', text }], usage }) as never
  const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
  const merged = (...usages: readonly object[]) =>
    mergedMessages(usages.map((usage, at) => part(`part ${at}`, { ...counts, ...usage })))[0]?.usage
  expect(merged({ input: 10 }, { cacheRead: 10 })).toMatchObject({ input: 0, cacheRead: 10 })
  expect(merged({ input: 11 }, { cacheRead: 10 })).toMatchObject({ input: 11, cacheRead: 0 })
  expect(merged({ input: 1 }, { input: 12 }, { cacheRead: 11 })).toMatchObject({ input: 12 })
})
