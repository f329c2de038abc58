import { expect, test } from 'vitest'
import { handoverIn } from './plan.ts'

test('the handover has 12,000 tokens in a window of 200,000, 6 % of a larger one, and at most 15 % of a smaller one', () => {
  const sizes = [8_000, 64_000, 79_999, 80_000, 128_000, 200_000, 400_000, 1_000_000]
  expect(sizes.map(handoverIn)).toEqual([1_200, 9_600, 11_999, 12_000, 12_000, 12_000, 24_000, 60_000])
})
