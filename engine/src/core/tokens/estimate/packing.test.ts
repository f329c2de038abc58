import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildAutomaton, hanFirst, hanLast } from './classes.ts'
import { letterBits } from './letters.ts'
import { charOf, levelAt, levelOfScore, levelOfTokens, packRarities, rarityAt, scoreAt, tokensAt } from './packing.ts'
import { hanRarity, letterScores, pairWeights } from './weights.ts'

describe('packed weights', () => {
  test('come back as they were written, to the nearest level', () => {
    const levels = Array.from({ length: 88 }, (_, level) => level)
    const packed = levels.map(charOf).join('')
    expect(packed).toMatch(/^[#-[\]-{]+$/)
    expect(levels.map((level) => levelAt(packed, level))).toEqual(levels)
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4.9, noNaN: true }), (tokens) => {
        expect(Math.abs(tokensAt(charOf(levelOfTokens(tokens)), 0) - tokens)).toBeLessThan(0.06)
      }),
    )
    fc.assert(
      fc.property(fc.double({ min: -3.6, max: 3.5, noNaN: true }), (score) => {
        expect(Math.abs(scoreAt(charOf(levelOfScore(score)), 0) - score)).toBeLessThan(0.05)
      }),
    )
  })

  test('hold three rarities to a character', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2)), (rarities) => {
        const packed = packRarities(rarities)
        expect(rarities.map((_, offset) => rarityAt(packed, offset))).toEqual(rarities)
      }),
    )
  })

  test('fit the classes and states they were fitted for', () => {
    const { rowCount, classCount, states } = buildAutomaton(() => 0)
    expect(pairWeights.length).toBe(rowCount * classCount)
    expect(letterScores.length).toBe(1 << (2 * letterBits))
    expect(hanRarity.length).toBe(Math.ceil((hanLast - hanFirst + 1) / 3))
    expect(states.length * classCount).toBeLessThanOrEqual(65_536)
  })
})
