import fc from 'fast-check'
import { expect, test } from 'vitest'
import { integerBelow, lettersFrom, pick, seededRandom } from './random.ts'

const draw = (count: number, ...seeds: readonly (number | string)[]) => {
  const random = seededRandom(...seeds)
  return Array.from({ length: count }, random)
}

test('the same seed gives the same numbers, another seed others', () => {
  expect(draw(50, 7, 'agent')).toEqual(draw(50, 7, 'agent'))
  expect(draw(5, 7, 'agent')).not.toEqual(draw(5, 8, 'agent'))
})

test('every number lies in [0, 1), whatever the seed', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.string()), (seed) => {
      expect(draw(40, seed).every((number) => number >= 0 && number < 1)).toBe(true)
    }),
  )
})

test('numbers of near seeds are spread evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let seed = 0; seed < 10_000; seed++) {
    const tenth = Math.floor((draw(1, 'near', seed)[0] ?? 0) * 10)
    tenths[tenth] = (tenths[tenth] ?? 0) + 1
  }
  expect(tenths.every((count) => count > 850 && count < 1150)).toBe(true)
})

test('whole numbers, picks and letters stay in their ranges', () => {
  const random = seededRandom('ranges')
  expect(integerBelow(random, 0)).toBe(0)
  expect(Array.from({ length: 50 }, () => integerBelow(random, 3)).every((number) => [0, 1, 2].includes(number))).toBe(
    true,
  )
  expect(['a', 'b']).toContain(pick(random, ['a', 'b']))
  expect(lettersFrom(random, 12)).toMatch(/^[0-9a-z]{12}$/)
})
