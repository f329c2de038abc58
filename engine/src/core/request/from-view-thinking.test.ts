import { expect, test } from 'vitest'
import type { Block, Message } from '../message/message.ts'
import { continuesUnthought, withThinkingFirst } from './repair.ts'

const text: Block = { type: 'text', text: 'x' }
const thought: Block = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
const use: Block = { type: 'tool_use', id: 't', name: 'Read', input: {} }
const result: Block = { type: 'tool_result', tool_use_id: 't', content: 'ok' }
const u = (...content: Block[]): Message => ({ role: 'user', content })
const a = (...content: Block[]): Message => ({ role: 'assistant', content })

test.each<readonly [string, boolean, readonly Message[]]>([
  ['a question', false, [u(text)]],
  ['a question after a loop without thinking', false, [u(text), a(use), u(result), a(text), u(text)]],
  ['a loop that began with thinking', false, [u(text), a(thought, use), u(result)]],
  [
    'a loop that began with thinking, and went on without',
    false,
    [u(text), a(thought, use), u(result), a(use), u(result)],
  ],
  [
    'a loop that began behind a compaction',
    false,
    [u(text), a({ type: 'compaction', content: 'x' }, thought, use), u(result)],
  ],
  ['a loop without thinking', true, [u(text), a(use), u(result)]],
  ['a loop that thought later', true, [u(text), a(use), u(result), a(thought, use), u(result)]],
  ['a loop into which a person spoke', true, [u(text), a(use), u(result, text)]],
  ['an answer that was begun', true, [u(text), a(text)]],
  ['an answer that was begun with thinking', false, [u(text), a(thought, text)]],
])('%s: %s', (_, isUnthought, messages) => {
  expect(continuesUnthought(messages)).toBe(isUnthought)
})

test('thinking in the middle of an answer goes, and no other', () => {
  const odd = [u(text), a(text, thought, use), u(result), a(thought, text, thought, text), u(text)]
  expect(withThinkingFirst(odd)).toEqual([odd[0], a(text, use), ...odd.slice(2)])
  const compacted = [u(text), a({ type: 'compaction', content: 'x' }, thought, text), u(text)]
  expect(withThinkingFirst(compacted)).toBe(compacted)
})
