import { expect, test } from 'vitest'
import { createDigests, createTextDigest } from './digest.ts'

const digest = createDigests(createTextDigest())
const text = { type: 'text', text: 'The gate is open.' }
const result = { type: 'tool_result', tool_use_id: 't1', content: 'open' }
const use = { type: 'tool_use', id: 't1', name: 'Read', input: { a: 1, b: 2 } }

test.each([
  ['a text with a mark', text, { ...text, cache_control: { type: 'ephemeral' } }],
  ['a result with a mark', result, { ...result, cache_control: { type: 'ephemeral' } }],
  ['fields in another order', { type: 'image', a: 1, b: 2 }, { b: 2, a: 1, type: 'image' }],
  ['a field that is null', { type: 'image', a: 1 }, { type: 'image', a: 1, title: null }],
])('%s is the same', (_, one, other) => expect(digest(one)).toBe(digest(other)))

test.each([
  ['another text', text, { ...text, text: 'The gate is shut.' }],
  ['a citation', text, { ...text, citations: [{ type: 'char_location', cited_text: 'open' }] }],
  ['another citation', { ...text, citations: [{ cited_text: 'a' }] }, { ...text, citations: [{ cited_text: 'b' }] }],
  ['an error', result, { ...result, is_error: true }],
  ['the result of another call', result, { ...result, tool_use_id: 't2' }],
  ['an input in another order', use, { ...use, input: { b: 2, a: 1 } }],
  ['another tool', use, { ...use, name: 'Write' }],
  [
    'long texts that differ in the middle',
    ...([0, 1].map((at) => ({ type: 'text', text: `${'x'.repeat(3_000)}${at}${'y'.repeat(5_000)}` })) as [
      object,
      object,
    ]),
  ],
])('%s is not', (_, one, other) => expect(digest(one as never)).not.toBe(digest(other as never)))
