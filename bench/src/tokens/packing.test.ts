import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildAutomaton,
  hanCount,
  letterBits,
  levelAt,
  scoreOfLevel,
  tokensOfLevel,
  unpackRarities,
  unpackRows,
} from '../../../engine/src/core/tokens/estimate/estimate.ts'
import { letterScores, pairWeights } from '../../../engine/src/core/tokens/estimate/weights.ts'
import { charOf, levelOfScore, levelOfTokens, packRarities, packRows } from './packing.ts'

describe('packed weights', () => {
  test('come back as they were written, to the nearest level', () => {
    const levels = Array.from({ length: 88 }, (_, level) => level)
    const packed = levels.map(charOf).join('')
    expect(packed).toMatch(/^[#-[\]-{]+$/)
    expect(levels.map((level) => levelAt(packed, level))).toEqual(levels)
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4.9, noNaN: true }), (tokens) => {
        expect(Math.abs(tokensOfLevel(levelOfTokens(tokens)) - tokens)).toBeLessThan(0.06)
      }),
    )
    fc.assert(
      fc.property(fc.double({ min: -3.6, max: 3.5, noNaN: true }), (score) => {
        expect(Math.abs(scoreOfLevel(levelOfScore(score)) - score)).toBeLessThan(0.05)
      }),
    )
  })

  test('come back in rows, most of which repeat the row above', () => {
    const rows = fc.tuple(
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.oneof(fc.nat(2), fc.nat(87)), { maxLength: 400 }),
    )
    fc.assert(
      fc.property(rows, ([width, levels]) => {
        expect(unpackRows(packRows(levels, width), width)).toEqual(levels)
      }),
    )
  })

  test('hold how rare each Han character is, in gaps of any length', () => {
    const gaps = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.constantFrom(0, 2)), { maxLength: 60 })
    fc.assert(
      fc.property(gaps, (found) => {
        const rarities = found.flatMap(([gap, rarity]) => [...new Array<number>(gap).fill(1), rarity])
        const whole = [...rarities, ...new Array<number>(hanCount - rarities.length).fill(1)]
        expect([...unpackRarities(packRarities(whole))]).toEqual(whole)
      }),
    )
  })

  test('fit the classes and states they were fitted for', () => {
    const { classOfRow, classCount, states } = buildAutomaton(new Uint8Array())
    expect(unpackRows(pairWeights, classCount).length).toBe(classOfRow.length * classCount)
    expect(letterScores.length).toBe(1 << (2 * letterBits))
    expect(states.length * classCount).toBeLessThanOrEqual(65_536)
  })
})
