import fc from 'fast-check'
import { expect, test } from 'vitest'
import { billedCounts, contextTokens, noTokens, readUsage, type TokenCounts, usageRecord } from './usage.ts'

const counts = (input: number, output: number, type = 'message') => ({ ...noTokens, input, output, type })

test('every iteration is paid for, and the last one that sampled says how full the window is', () => {
  const usage = { ...noTokens, input: 10, output: 5 }
  const iterations = [counts(100, 20, 'compaction'), counts(10, 5), counts(0, 0)]
  expect(billedCounts({ ...usage, iterations })).toEqual({ ...noTokens, input: 110, output: 25 })
  expect(contextTokens({ ...usage, iterations })).toBe(15)
  expect([billedCounts(usage), contextTokens(usage)]).toEqual([usage, 15])
})

test('the context is as large as the last sampling was, whatever a compaction read', () => {
  const sampled = (type: string, input: number) => ({ ...noTokens, input, type })
  const iterations = [sampled('message', 500), sampled('compaction', 90_000)]
  expect(contextTokens({ ...noTokens, input: 7, iterations })).toBe(500)
  expect(contextTokens({ ...noTokens, input: 7, iterations: iterations.toReversed() })).toBe(500)
  expect(contextTokens({ ...noTokens, input: 7 })).toBe(7)
})

test('a usage that cannot be is none', () => {
  const usage = { input_tokens: 5, output_tokens: 5 }
  const absurd = [{ input_tokens: -1 }, { output_tokens: Number.NaN }, { cache_read_input_tokens: 1 / 0 }]
  expect(absurd.map((wrong) => readUsage({ ...usage, ...wrong }))).toEqual([undefined, undefined, undefined])
  expect(readUsage(usage)).toMatchObject({ input: 5, output: 5 })
})

const tokens = fc.nat(1_000_000)
const anyCounts: fc.Arbitrary<TokenCounts> = fc
  .record({ input: tokens, output: tokens, cacheRead: tokens, cacheWriteHour: tokens, others: tokens })
  .map(({ others, ...rest }) => ({ ...rest, cacheWrite: rest.cacheWriteHour + others }))

test('a usage is read back as it was written, and both lifetimes of the cache add up', () => {
  const type = fc.constantFrom('message', 'compaction')
  const iteration = fc.tuple(anyCounts, type).map(([item, name]) => ({ ...item, type: name }))
  const iterations = fc.option(fc.array(iteration, { minLength: 1, maxLength: 3 }), { nil: undefined })
  fc.assert(
    fc.property(anyCounts, iterations, (top, listed) => {
      const usage = listed ? { ...top, iterations: listed } : top
      const record = usageRecord(usage)
      expect(readUsage(record)).toEqual(usage)
      const short = top.cacheWrite - top.cacheWriteHour
      expect(record).toMatchObject({ cache_creation: { ephemeral_5m_input_tokens: short } })
    }),
  )
})
