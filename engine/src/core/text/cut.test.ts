import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipped, clippedAtWord, headOf, headWithin, markedHeadWithin, tailOf, withoutMiddle } from './cut.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

describe('by characters', () => {
  test('a head and a tail never hold half a character', () => {
    expect(headOf('ab😀cd', 3)).toBe('ab')
    expect(headOf('ab😀cd', 4)).toBe('ab😀')
    expect(tailOf('ab😀cd', 3)).toBe('cd')
    expect(tailOf('ab😀cd', 4)).toBe('😀cd')
  })

  test('a text that fits stays as it is, and nothing at all may be asked for', () => {
    expect([headOf('ab', 2), tailOf('ab', 2), clipped('ab', 2), withoutMiddle('ab', { max: 2 })]).toEqual([
      'ab',
      'ab',
      'ab',
      'ab',
    ])
    expect([headOf('ab', 0), tailOf('ab', 0), headOf('ab', -1), tailOf('ab', -1)]).toEqual(['', '', '', ''])
  })

  test('a clipped text ends in an ellipsis and is no longer than asked', () => {
    expect(clipped('abcdef', 4)).toBe('abc…')
    expect(clipped('ab😀def', 4)).toBe('ab…')
  })

  test('a text without its middle says how much is left out', () => {
    expect(withoutMiddle('abcdefghijkl', { max: 5 })).toBe('abc\n[… 7 characters left out …]\nkl')
    expect(withoutMiddle('ab😀defghi😀l', { max: 6, headShare: 0.5, marker: (n) => `<${n}>` })).toBe('ab<8>😀l')
  })

  test('cuts of a well-formed text are well formed and join up to it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, most) => {
        const marker = (missing: number) => `[${missing}]`
        const cuts = [headOf(text, most), tailOf(text, most), withoutMiddle(text, { max: most, marker })]
        expect(cuts.map((cut) => cut.isWellFormed())).toEqual([true, true, true])
        expect(text.startsWith(headOf(text, most))).toBe(true)
        expect(text.endsWith(tailOf(text, most))).toBe(true)
        expect(headOf(text, most).length).toBeGreaterThanOrEqual(Math.min(text.length, most - 1))
        expect(clipped(text, most + 1).length).toBeLessThanOrEqual(most + 1)
      }),
    )
  })
})

describe('by tokens', () => {
  test('the head ends with a line where one ends in its second half', () => {
    const text = 'one line\nanother line\na third line'
    expect(headWithin(text, { tokens: 6, countTokens })).toBe('one line\nanother line\n')
    expect(headWithin('x'.repeat(100), { tokens: 6, countTokens })).toBe('x'.repeat(24))
    // Stopping at the early line break would waste most of the limit.
    expect(headWithin(`one\n${'x'.repeat(100)}`, { tokens: 6, countTokens })).toBe(`one\n${'x'.repeat(20)}`)
    expect(markedHeadWithin(text, { tokens: 8, countTokens, marker: '[cut]' })).toBe('one line\nanother line\n[cut]')
    expect(markedHeadWithin(text, { tokens: 1, countTokens, marker: '[cut]' })).toBe('')
  })

  test('a head stays within its tokens, is well formed, and is the whole text where that fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(60), (text, tokens) => {
        const head = headWithin(text, { tokens, countTokens })
        expect(text.startsWith(head)).toBe(true)
        expect(head.isWellFormed()).toBe(true)
        expect(countTokens(head)).toBeLessThanOrEqual(tokens)
        if (countTokens(text) <= tokens) expect(head).toBe(text)
        const marked = markedHeadWithin(text, { tokens, countTokens, marker: '[cut]' })
        expect(countTokens(marked)).toBeLessThanOrEqual(tokens)
      }),
    )
  })
})

test('a text is clipped between words, and a word that ends exactly at the limit stays', () => {
  const sizes = [14, 13, 12, 8, 7, 6, 3]
  expect(sizes.map((max) => clippedAtWord('one two threes', max))).toEqual([
    'one two threes',
    'one two…',
    'one two…',
    'one two…',
    'one…',
    'one…',
    'on…',
  ])
  expect([11, 12, 13].map((max) => clippedAtWord('one two six tens', max))).toEqual([
    'one two…',
    'one two six…',
    'one two six…',
  ])
})
