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
    /** Of the processor, in microseconds; the least of three, because the first counts load code. */
    const cost = (text: string) =>
      Math.min(
        ...[1, 2, 3].map((nth) => {
          const began = process.cpuUsage()
          tokenizer.count(`${nth}${text}`)
          const { user, system } = process.cpuUsage(began)
          return user + system
        }),
      )
    // 256 times as much where it is quadratic.
    expect(cost(signs(16_000)) / Math.max(1_000, cost(signs(1_000)))).toBeLessThan(100)
    expect(cost('a'.repeat(160_000)) / Math.max(1_000, cost('a'.repeat(10_000)))).toBeLessThan(100)
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
