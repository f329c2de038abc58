import { describe, expect, test } from 'vitest'
import { solve } from './solve.ts'

const seen = (truth: number, ...counts: readonly (readonly [number, number])[]) => ({
  counts: new Map(counts),
  truth,
  weight: 1,
})

describe('the fit', () => {
  test('finds the weights that explain the counts', () => {
    const observations = [seen(7, [0, 2], [1, 1]), seen(5, [0, 1], [1, 2]), seen(4, [0, 1], [1, 1])]
    const [a = 0, b = 0] = solve({ observations, prior: new Float64Array(2), pull: 1e-9, rounds: 5_000 })
    expect([a, b].map((weight) => Math.round(weight * 100) / 100)).toEqual([3, 1])
  })

  test('never goes below zero, and leaves a weight that nothing speaks about at its prior', () => {
    const observations = [seen(1, [0, 1], [1, 1]), seen(3, [0, 1])]
    const weights = solve({ observations, prior: Float64Array.of(0, 0, 0.7), pull: 1e-9 })
    expect(weights[1]).toBe(0)
    expect(weights[2]).toBe(0.7)
  })

  test('takes only weights that can be stored when it is told to', () => {
    const snap = (weight: number) => Math.round(weight * 2) / 2
    const observations = [seen(7.3, [0, 2], [1, 1]), seen(4.9, [0, 1], [1, 2])]
    const weights = solve({ observations, prior: new Float64Array(2), pull: 1e-6, snap })
    expect([...weights].map(snap)).toEqual([...weights])
  })

  test('leaves held weights where they begin, and lets the others make up for them', () => {
    const observations = [seen(3, [0, 1], [1, 1]), seen(5, [0, 1], [1, 2])]
    const weights = solve({ observations, prior: Float64Array.of(2, 0), pull: 1e-9, held: (index) => index === 0 })
    expect(weights[0]).toBe(2)
    expect(weights[1]).toBeGreaterThan(0.9)
  })
  test('goes below zero where it may, and can measure errors in something else than the truth', () => {
    const observations = [
      { ...seen(0, [0, 1], [1, 1]), unit: 1 },
      { ...seen(2, [0, 1]), unit: 1 },
    ]
    const [a = 0, b = 0] = solve({ observations, prior: new Float64Array(2), pull: 1e-9, least: -5, rounds: 5_000 })
    expect([a, b].map((weight) => Math.round(weight * 100) / 100)).toEqual([2, -2])
  })
})
