import { describe, expect, test } from 'vitest'
import { transcriptFolder } from '../root.ts'
import { figuresOf, predictionErrors } from './prediction.ts'
import { readAnswers, sessionFiles } from './sessions.ts'

const folder = transcriptFolder()

describe('the size of the next request, foretold on real sessions', () => {
  test.skipIf(folder === undefined)(
    'is off by less than 0.3 % of the total on average (skipped without ../shared/data)',
    () => {
      const errors = sessionFiles(folder ?? '').flatMap((file) => predictionErrors(readAnswers(file)))
      expect(errors.length).toBeGreaterThan(1_000)
      expect(figuresOf(errors).mean).toBeLessThan(0.003)
    },
  )
})

describe('figures', () => {
  test('are the mean, the 95th percentile and the worst of the sizes of the errors', () => {
    expect(figuresOf([-0.2, 0.1])).toEqual({ count: 2, mean: 0.15000000000000002, p95: 0.2, worst: 0.2 })
    expect(figuresOf([])).toEqual({ count: 0, mean: 0, p95: 0, worst: 0 })
  })
})
