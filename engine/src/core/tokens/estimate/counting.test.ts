import { describe, expect, test } from 'vitest'
import type { Block } from '../../message/message.ts'
import { countTokens, type Measuring, measureContent } from './counting.ts'
import { estimateTokens } from './estimate.ts'

const png = (width: number, height: number): string => {
  const head = Buffer.alloc(33)
  head.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return head.toString('base64')
}
const image = (data: string): Block => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
const measureBlock = (block: Block, how?: Measuring) => measureContent([block], how)
const baseline = (block: Block) => measureBlock(block, { estimator: 'chars/4' })

describe('the documented baseline', () => {
  test.each([
    ['text is a quarter of its length, rounded', { type: 'text', text: 'abcdef' }, { text: 2, media: 0 }],
    ['an image is 2,000 flat, whatever its size', image(png(10, 10)), { text: 0, media: 2_000 }],
    ['a document is 2,000 flat', { type: 'document', source: { type: 'text', data: 'x' } }, { text: 0, media: 2_000 }],
    [
      'a tool use is its name plus the JSON of its input',
      { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a.ts' } },
      { text: Math.round('Read{"path":"a.ts"}'.length / 4), media: 0 },
    ],
    [
      'a tool result is its text blocks plus 2,000 for each image',
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'abcdefgh' }, image(png(10, 10))] },
      { text: 2, media: 2_000 },
    ],
    [
      'a string inside a tool result counts as one text block',
      { type: 'tool_result', tool_use_id: 'a', content: 'x'.repeat(40) },
      { text: 10, media: 0 },
    ],
    [
      'any other block is its JSON',
      { type: 'odd', k: 1 },
      { text: Math.round('{"type":"odd","k":1}'.length / 4), media: 0 },
    ],
  ] as const)('%s', (_, block, expected) => {
    expect(baseline(block as Block)).toEqual(expected)
  })

  test('string content counts as one text block', () => {
    expect(measureContent('x'.repeat(10), { estimator: 'chars/4' })).toEqual({ text: 3, media: 0 })
  })
})

describe('our measure', () => {
  test('counts a tool use by its name and the JSON of its input', () => {
    expect(measureBlock({ type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'ls' } })).toEqual({
      text: estimateTokens('Bash') + estimateTokens('{"command":"ls"}'),
      media: 0,
    })
  })

  test('counts thinking by its text, and by its signature where the text was not stored', () => {
    const signature = 'S'.repeat(400)
    expect(measureBlock({ type: 'thinking', thinking: 'so be it', signature })).toEqual({
      text: estimateTokens('so be it'),
      media: 0,
    })
    expect(measureBlock({ type: 'thinking', thinking: '', signature })).toEqual({ text: 0, media: 100 })
    expect(measureBlock({ type: 'redacted_thinking', data: signature })).toEqual({ text: 0, media: 100 })
  })

  test('reads the dimensions of an image and charges what the API documents', () => {
    expect(measureBlock(image(png(750, 100)))).toEqual({ text: 0, media: 100 })
    expect(measureBlock(image(png(8_000, 8_000)))).toEqual({ text: 0, media: 1_600 })
    expect(measureBlock(image(png(3_136, 300)))).toEqual({ text: 0, media: Math.round((1_568 * 150) / 750) })
    expect(measureBlock(image(png(8_000, 8_000)), { model: 'claude-opus-5' })).toEqual({ text: 0, media: 5_000 })
  })

  test('charges the flat figure for an image it cannot read', () => {
    expect(measureBlock(image('no picture'))).toEqual({ text: 0, media: 2_000 })
    expect(measureBlock({ type: 'image', source: { type: 'url', url: 'x' } })).toEqual({ text: 0, media: 2_000 })
  })

  test('counts a text document by its text and pages of bytes flat', () => {
    const text = 'A page of plain words.'
    const tokens = estimateTokens(text)
    expect(measureBlock({ type: 'document', source: { type: 'text', data: text } })).toEqual({ text: tokens, media: 0 })
    expect(measureBlock({ type: 'document', source: { type: 'content', content: text } })).toEqual({
      text: tokens,
      media: 0,
    })
    expect(measureBlock({ type: 'document', source: { type: 'base64', data: 'JVBERi0' } })).toEqual({
      text: 0,
      media: 2_000,
    })
  })

  test('never throws, not even on an input that JSON cannot hold', () => {
    const ring: Record<string, unknown> = {}
    ring.self = ring
    expect(measureBlock({ type: 'tool_use', id: 'a', name: 'x', input: ring }).media).toBe(0)
  })
})

test('a calibration scales text and leaves media as it is', () => {
  const media = [
    { role: 'user' as const, content: [{ type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } }] },
  ]
  const plain = countTokens(media)
  expect(plain).toBeGreaterThan(0)
  expect(countTokens(media, { calibration: { factor: 2 } })).toBe(plain)
})
