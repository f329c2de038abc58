import { expect, test } from 'vitest'
import { coldLine } from './cold-line.ts'

const cold = { type: 'cache-cold', tokens: 150_000, expiredMs: 720_000, cost: 0.84, warmCost: 0.07 } as const

test('a cold cache is said with its price, and a compaction first if that is cheaper', () => {
  expect(coldLine(cold)).toBe('The cache expired 12 min ago; this turn costs $0.84 instead of $0.07.')
  expect(coldLine({ ...cold, compactFirst: 0.11 })).toBe(
    'The cache expired 12 min ago; this turn costs $0.84 instead of $0.07; /compact first: $0.11.',
  )
})

test('a difference of less than ten cents, or an unknown one, is not worth a line', () => {
  expect(coldLine({ ...cold, cost: 0.2, warmCost: 0.1 })).toBeDefined()
  expect(coldLine({ ...cold, cost: 0.1999, warmCost: 0.1 })).toBeUndefined()
  const { cost: _, ...unpriced } = cold
  expect(coldLine(unpriced)).toBeUndefined()
})
