import { expect, test } from 'vitest'
import type { Block, ViewMessage } from '../../message/message.ts'
import { withoutInput, withoutThinking } from './effects.ts'

const answer = (...content: readonly Block[]): ViewMessage => ({ role: 'assistant', origin: 'assistant', content })

test('an answer that only thought leaves nothing behind; one that says something keeps the rest', () => {
  const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
  const said = { type: 'text', text: 'ok' }
  expect(withoutThinking(answer(thought))).toBeUndefined()
  expect(withoutThinking(answer(thought, said))).toEqual(answer(said))
  const plain = answer(said)
  expect(withoutThinking(plain)).toBe(plain)
})

test('an input of 200 characters stays, and one more goes', () => {
  const inputs = [200, 201].flatMap((length) => {
    const text = 'x'.repeat(length)
    // A list counts as JSON.
    const list = ['x'.repeat(length - 4)]
    return [withoutInput({ type: 'tool_use', id: 't1', name: 'Edit', input: { text, list } }).input]
  })
  const cleared = '[Old tool input cleared]'
  expect(inputs).toEqual([
    { text: 'x'.repeat(200), list: ['x'.repeat(196)] },
    { text: cleared, list: [cleared] },
  ])
})

test('of an input what is long goes, at any depth and in lists; what is short stays', () => {
  const long = 'x'.repeat(201)
  const call = { type: 'tool_use', id: 't1', name: 'Edit' } as const
  const input = { path: 'a.ts', text: long, edits: [{ old: 'a', new: long }], tags: ['a', 'b'], deep: { text: long } }
  expect(withoutInput({ ...call, input })).toEqual({
    ...call,
    input: {
      path: 'a.ts',
      text: '[Old tool input cleared]',
      edits: ['[Old tool input cleared]'],
      tags: ['a', 'b'],
      deep: { text: '[Old tool input cleared]' },
    },
  })
})
