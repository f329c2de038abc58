// Counting tokens: exactly, once, and never for long.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTokenizer } from './tokenizer.ts'

describe('the tokenizer', () => {
  const tokenizer = createTokenizer()

  test('counts by a real vocabulary', () => {
    expect(['', 'hello world', 'function', '漢字', '🎈'].map(tokenizer.count)).toEqual([0, 2, 1, 2, 2])
  })

  test('takes the words of the vocabulary itself as plain text', () => {
    expect(tokenizer.count('<|endoftext|>')).toBeGreaterThan(1)
  })

  test('is not slow on text without breaks', () => {
    const signs = (length: number) =>
      Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000))).join('')
    /** Of the processor, in microseconds. */
    const cost = (text: string) => {
      const began = process.cpuUsage()
      tokenizer.count(text)
      const { user, system } = process.cpuUsage(began)
      return user + system
    }
    cost(signs(2_000))
    // 64 times as much where it is quadratic.
    expect(cost(signs(20_000)) / cost(signs(2_500))).toBeLessThan(30)
    expect(cost('a'.repeat(200_000)) / cost('a'.repeat(25_000))).toBeLessThan(30)
  })

  test('measures a content once', () => {
    let measured = 0
    const measure = () => ++measured
    expect([tokenizer.remember('key', measure), tokenizer.remember('key', measure)]).toEqual([1, 1])
  })

  test('cuts at most so many tokens off the front, between characters', () => {
    const text = fc.string({ unit: fc.constantFrom('word ', '漢', '🎈', '\n', '{}', 'é'), maxLength: 60 })
    fc.assert(
      fc.property(text, fc.nat({ max: 80 }), (whole, most) => {
        const cut = tokenizer.cut(whole, most)
        expect(whole.startsWith(cut)).toBe(true)
        expect(cut.isWellFormed()).toBe(true)
        expect(tokenizer.count(cut)).toBeLessThanOrEqual(most)
        if (tokenizer.count(whole) <= most) expect(cut).toBe(whole)
      }),
    )
  })
})
