import { describe, expect, test } from 'vitest'
import { codexHistory } from './codex.ts'

describe('the rule of Codex', () => {
  test('keeps what people typed, in its order, and puts the summary last', () => {
    const [first, second, last, ...more] = codexHistory(['one', 'two'], 'The summary.')
    expect([first, second, more]).toEqual(['one', 'two', []])
    expect(last).toMatch(/\nThe summary\.$/)
  })

  test('has room for 20,000 tokens of four bytes, and keeps both ends of the message that no longer fits', () => {
    const long = (letter: string) => letter.repeat(60_000)
    const [cut, newest] = codexHistory(['gone', long('a'), long('b')], 'x')
    expect(newest).toBe(long('b'))
    expect(cut).toBe(`${'a'.repeat(10_000)}…10000 tokens truncated…${'a'.repeat(10_000)}`)
  })

  test('drops everything older once the room is used up', () => {
    expect(codexHistory(['older', 'ä'.repeat(40_000)], 'x')).toHaveLength(2)
  })
})
