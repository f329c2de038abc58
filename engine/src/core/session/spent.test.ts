import { expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import { createUsageMeter } from './tracking.ts'

const usage = { ...noTokens, input: 1_000_000, output: 10 }

test('requests and tokens add up for each purpose', () => {
  const meter = createUsageMeter()
  const { turn } = meter.total()
  meter.add({ source: 'compact', usage, model: 'claude-opus-4-5' })
  const once = meter.total().compact
  meter.add({ source: 'compact', usage, model: 'claude-opus-4-5' })
  const twice = meter.total().compact
  expect(twice).toMatchObject({ requests: 2, usage: { ...noTokens, input: 2_000_000, output: 20 } })
  expect(twice.cost).toBeCloseTo(2 * (once.cost ?? 0))
  expect(once.cost).toBeGreaterThan(1)
  expect(meter.total().turn).toEqual(turn)
})

test('the cost is unknown once a price is unknown', () => {
  const meter = createUsageMeter()
  meter.add({ source: 'turn', usage, model: 'claude-opus-4-5' })
  meter.add({ source: 'turn', usage, model: 'somebody-elses-model' })
  expect(meter.total().turn.cost).toBeUndefined()
  meter.add({ source: 'turn', usage, model: 'claude-opus-4-5' })
  expect(meter.total().turn.cost).toBeUndefined()
})
