// Bytes are compared eight at a time: the property compares them one at a time.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chunkOf, endsWith, known, pattern } from './pattern.ts'

/** Of two letters, so that texts often begin alike. */
const ascii = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength })

test('a pattern is found exactly where its bytes are, also at the very end', () => {
  fc.assert(
    fc.property(ascii(8, 40), ascii(0, 20), ascii(0, 20), fc.nat(60), (wanted, before, after, place) => {
      const text = `${before}${wanted}${after}`
      const { length, isAt } = pattern(wanted)
      const chunk = chunkOf(Buffer.from(text))
      expect(length).toBe(wanted.length)
      expect([isAt(chunk, before.length), isAt(chunk, place), isAt(chunk, -1)]).toEqual([
        true,
        text.startsWith(wanted, place),
        false,
      ])
    }),
  )
})

test('a pattern that differs in one byte is not found', () => {
  const text = 'abcdefgh'.repeat(5)
  for (let length = 8; length <= text.length; length++) {
    for (let at = 0; at < length; at++) {
      const changed = `${text.slice(0, at)}X${text.slice(at + 1, length)}`
      expect(pattern(text.slice(0, length)).isAt(chunkOf(Buffer.from(changed)), 0)).toBe(false)
    }
  }
})

test('a pattern has 8 to 40 bytes', () => {
  for (const length of [7, 41]) expect(() => pattern('x'.repeat(length))).toThrow('8 to 40 bytes')
})

test('bytes that were seen before are found at the end of a line, and nothing else is', () => {
  fc.assert(
    fc.property(ascii(0, 30), ascii(0, 30), fc.nat(40), (seen, text, place) => {
      const end = Math.min(place, text.length)
      const isEnd = text.slice(0, end).endsWith(seen)
      expect(endsWith(chunkOf(Buffer.from(text)), end, known(Buffer.from(seen)))).toBe(isEnd)
      const whole = Buffer.from(text + seen)
      expect(endsWith(chunkOf(whole), whole.length, known(Buffer.from(seen)))).toBe(true)
    }),
  )
})
