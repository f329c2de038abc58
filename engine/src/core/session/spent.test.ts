import { expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import { nothingSpent, withSpent } from './spent.ts'

const usage = { ...noTokens, input: 1_000_000, output: 10 }

test('requests and tokens add up, each purpose for itself', () => {
  const once = withSpent(nothingSpent, { source: 'compact', usage, model: 'claude-opus-4-5' })
  const twice = withSpent(once, { source: 'compact', usage, model: 'claude-opus-4-5' })
  expect(twice.compact).toMatchObject({ requests: 2, usage: { ...noTokens, input: 2_000_000, output: 20 } })
  expect(twice.compact.cost).toBeCloseTo(2 * (once.compact.cost ?? 0))
  expect(once.compact.cost).toBeGreaterThan(1)
  expect(twice.turn).toEqual(nothingSpent.turn)
})

test('where one price is not known the sum is not known either', () => {
  const known = withSpent(nothingSpent, { source: 'turn', usage, model: 'claude-opus-4-5' })
  const unknown = withSpent(known, { source: 'turn', usage, model: 'somebody-elses-model' })
  expect(unknown.turn.cost).toBeUndefined()
  expect(withSpent(unknown, { source: 'turn', usage, model: 'claude-opus-4-5' }).turn.cost).toBeUndefined()
})
