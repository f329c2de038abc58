import { describe, expect, test } from 'vitest'
import { gap, letterBits, letterOf } from '../../../engine/src/core/tokens/estimate/estimate.ts'
import { randomFrom } from '../random.ts'
import { fitStrangeness } from './strangeness.ts'
import { countExactly } from './truth.ts'

const common = ['the', 'window', 'model', 'summary', 'conversation', 'keeps', 'what', 'work', 'needs']
const strange = ['zkeqt', 'iqxen', 'tzeakk', 'uqze', 'ekzat', 'xzoqi']

const textsOf = (words: readonly string[], seed: number) => {
  const random = randomFrom(seed)
  return Array.from({ length: 12 }, () => Array.from({ length: 80 }, () => random.pick(words)).join(' '))
}
const meanScore = (text: string, scores: Float64Array) => {
  const letters = [gap, ...Array.from(text, (char) => letterOf[char.charCodeAt(0)] ?? 0)]
  const pairs = letters.slice(1).map((letter, index) => ((letters[index] ?? 0) << letterBits) | letter)
  return pairs.reduce((sum, pair) => sum + (scores[pair] ?? 0), 0) / text.length
}

describe('the strangeness of letters', () => {
  test('is learned: words of a language that is underestimated are above zero, all others below', () => {
    const samples = [
      ...textsOf(common, 1).map((text) => ({ category: 'prose', source: 'a', text })),
      ...textsOf(strange, 2).map((text) => ({ category: 'rare-languages', source: 'b', text })),
    ]
    // An estimate that is right for what is well known and a third too low for the other.
    const isStrange = (text: string) => text.includes('q')
    const scores = fitStrangeness(samples, (text) => countExactly(text, 'o200k') / (isStrange(text) ? 1.5 : 1))
    const [known = '', unknown = ''] = [textsOf(common, 3)[0], textsOf(strange, 4)[0]]
    expect(meanScore(known, scores)).toBeLessThan(0)
    expect(Math.abs(meanScore(unknown, scores) - 0.5)).toBeLessThan(0.15)
  })
})
