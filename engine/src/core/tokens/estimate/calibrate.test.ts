import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Calibration, calibrationOf, recalibrate, recalibrateModel, uncalibrated } from './counting.ts'

const comparison = fc.record({ estimated: fc.double({ min: 0, max: 1e6 }), reported: fc.double({ min: 0, max: 1e6 }) })

describe('calibration', () => {
  test('moves a fifth of the way, and never more than 0.15 at once', () => {
    expect(recalibrate(uncalibrated, { estimated: 10_000, reported: 15_000 })).toEqual({ factor: 1.1 })
    expect(recalibrate(uncalibrated, { estimated: 10_000, reported: 90_000 })).toEqual({ factor: 1.15 })
    expect(recalibrate({ factor: 2 }, { estimated: 10_000, reported: 1 })).toEqual({ factor: 1.85 })
  })

  test('learns nothing from texts too small to say anything, nor from numbers that are none', () => {
    for (const odd of [
      { estimated: 1_900, reported: 2_500 },
      { estimated: 0, reported: 5 },
      { estimated: 5_000, reported: Number.NaN },
    ]) {
      expect(recalibrate(uncalibrated, odd)).toBe(uncalibrated)
    }
  })

  test('stays between 0.5 and 2 and takes steps of at most 0.15, whatever it is told', () => {
    fc.assert(
      fc.property(fc.array(comparison), (comparisons) => {
        let calibration = uncalibrated
        for (const seen of comparisons) {
          const next = recalibrate(calibration, seen)
          expect(Math.abs(next.factor - calibration.factor)).toBeLessThanOrEqual(0.15 + 1e-12)
          expect(next.factor).toBeGreaterThanOrEqual(0.5)
          expect(next.factor).toBeLessThanOrEqual(2)
          calibration = next
        }
      }),
    )
  })

  test('does not ratchet: from anywhere it comes back to the truth', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        fc.double({ min: 0.5, max: 2, noNaN: true }),
        (from, truth) => {
          let calibration: Calibration = { factor: from }
          for (let turn = 0; turn < 60; turn++)
            calibration = recalibrate(calibration, { estimated: 5_000, reported: 5_000 * truth })
          expect(calibration.factor).toBeCloseTo(truth, 3)
        },
      ),
    )
  })

  test('keeps each model to itself', () => {
    const learned = recalibrateModel({}, 'a', { estimated: 10_000, reported: 15_000 })
    expect(learned).toEqual({ a: { factor: 1.1 } })
    expect(calibrationOf(learned, 'b')).toEqual(uncalibrated)
    expect(calibrationOf(learned, 'constructor')).toEqual(uncalibrated)
  })
})
