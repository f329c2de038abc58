import { estimateTokens } from 'everlong'
import { describe, expect, test } from 'vitest'
import { figuresOf } from './prediction.ts'
import { synthetic } from './synthetic.ts'
import { countExactly } from './truth.ts'

// The text is made here, so this needs no network; prose and code are measured by `npm run bench -- tokens`.
const byCategory = [...Map.groupBy(synthetic('test'), ({ category }) => category)]

describe('the estimate of text it was not fitted on', () => {
  test.each(byCategory)('is within 8 %% of the exact count on average: %s', (_, samples) => {
    const errors = samples
      .slice(0, 12)
      .map(({ text }) => text.slice(0, 2_000).toWellFormed())
      .map((text) => estimateTokens(text) / countExactly(text, 'o200k') - 1)
    expect(figuresOf(errors).mean).toBeLessThan(0.08)
  })
})
