import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { condensed, gist, sentenceEnd } from './cut.ts'

const sentence = fc.constantFrom<string>(
  'The door is open.',
  'It was painted green on both sides!',
  'Is the gate next?',
  'The hinge was 4.5 cm too wide.',
  '门是开着的。',
)

describe('condensing', () => {
  test('leaves alone what is short enough', () => {
    expect(condensed(' The door is open. ', 20)).toBe('The door is open.')
    expect(condensed('x'.repeat(20), 20)).toBe('x'.repeat(20))
  })

  test('keeps the beginning and the end, whole lines and sentences, and says that something is missing', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `Line number ${at} says this.`)
    const text = condensed(lines.join('\n'), 200)
    expect(text).toBe(
      [
        'Line number 0 says this.',
        'Line number 1 says this.',
        'Line number 2 says this.',
        '[…]',
        'Line number 16 says this.',
        'Line number 17 says this.',
        'Line number 18 says this.',
        'Line number 19 says this.',
      ].join('\n'),
    )
  })

  test('keeps or leaves out a table and a fenced block whole', () => {
    const table = ['| part | state |', '| --- | --- |', '| hinge | bent |', '| frame | wet |'].join('\n')
    const code = ['```', 'mend(hinge, screws)', '', 'dry(frame)', '```'].join('\n')
    const filler = Array.from({ length: 10 }, (_, at) => `Line number ${at} says this.`).join('\n')
    expect(condensed(`All parts:\n\n${table}\n${filler}`, 200)).toContain(`All parts:\n${table}\n[…]`)
    expect(condensed(`${filler}\n${code}`, 200)).toContain(code)
    for (const block of [table, code]) {
      const short = condensed(`Look.\n${block}\n${filler}`, 100)
      expect(short.startsWith('Look.\n[…]\n')).toBe(true)
      expect(short).not.toMatch(/[|`]/)
    }
  })

  test('keeps the beginning even if the first sentence is too long for it, but no part of a table or block', () => {
    const first = 'Please look at the gate of the upper harbor, which has been stuck since the storm of last week.'
    const text = condensed(`${first} ${'It creaks. '.repeat(20)}Oil it.`, 100)
    expect(text).toBe(
      'Please look at the gate of the upper…\n[…]\nIt creaks.\nIt creaks.\nIt creaks.\nIt creaks.\nOil it.',
    )
    const code = ['```', ...Array.from({ length: 9 }, () => 'mend(hinge)'), '```'].join('\n')
    expect(condensed(`${code}\nOil it.`, 60)).toBe('[…]\nOil it.')
  })

  test('never cuts inside a sentence, and is about as long as it may be', () => {
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 5, maxLength: 60 }), fc.boolean(), (sentences, isLines) => {
        const whole = sentences.join(isLines ? '\n' : ' ')
        const most = Math.max(110, Math.floor(whole.length / 2))
        const text = condensed(whole, most)
        const pieces = text.split(/\n|(?<=[.!?。])\s+/).filter((piece) => piece !== '[…]')
        expect(pieces.filter((piece) => !sentences.includes(piece))).toEqual([])
        expect(text.length).toBeLessThanOrEqual(most + 5)
        expect(pieces.length).toBeGreaterThan(0)
      }),
    )
  })

  test('one sentence that is too long is cut, between characters', () => {
    const text = condensed('😀'.repeat(500), 101)
    expect(text).toBe(`${'😀'.repeat(50)} […]`)
  })
})

test('the gist of a report is its first prose, without code, tables, headings, questions and lead-ins', () => {
  const report = [
    '## Result',
    'Here is what I found:',
    '```ts',
    'const a = 1',
    '```',
    '| a | b |',
    '1. The parser drops empty lines. It should keep them.',
    '2. The writer is fine',
    'Shall I fix it?',
  ].join('\n')
  expect(gist(report, 400)).toBe('The parser drops empty lines. It should keep them. The writer is fine')
  expect(gist(report, 40)).toBe('The parser drops empty lines.')
})

test('a report without prose is shown by its beginning and its end', () => {
  expect(gist('```\na\n```', 40)).toBe('```\na\n```')
})

test.each([
  ['1. Keep the lock. Release it later.', ['1. Keep the lock.', 'Release it later.']],
  ['**A. Redis** is fast. **B. Postgres** is safe.', ['**A. Redis** is fast.', '**B. Postgres** is safe.']],
  ['Minimum vs. recommended, e.g. 17. Both work.', ['Minimum vs. recommended, e.g. 17. Both work.']],
  ['It has 36 tests. All pass! Done?  Yes.', ['It has 36 tests.', 'All pass!', 'Done?', 'Yes.']],
])('a label or an abbreviation ends no sentence: %s', (text, sentences) => {
  expect(text.split(sentenceEnd)).toEqual(sentences)
})

test('half a million sentences are cut like a few', () => {
  expect(condensed('Never do. '.repeat(500_000), 100)).toMatch(/^Never do\.\n.*\n\[…\]\n.*Never do\.$/s)
})
