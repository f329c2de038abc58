import fc from 'fast-check'
import { expect, test } from 'vitest'
import { billedCounts, contextTokens, noTokens, readUsage } from './usage.ts'

const anyCount = fc.constantFrom(0, 1, 10, null, '7', undefined)
const anyCounts = fc.record({
  input_tokens: anyCount,
  output_tokens: anyCount,
  cache_read_input_tokens: anyCount,
  cache_creation_input_tokens: anyCount,
  cache_creation: fc.constantFrom(undefined, null, {}, { ephemeral_1h_input_tokens: 1 }),
  type: fc.constantFrom(undefined, 'message', 'compaction'),
})
const anyIterations = fc.oneof(
  fc.constant(undefined),
  fc.array(fc.oneof(anyCounts, fc.constant('what')), { maxLength: 2 }),
)
const anyUsage = fc.record({ counts: anyCounts, iterations: anyIterations }).map((it) => ({
  ...it.counts,
  iterations: it.iterations,
}))

test('what is read does not depend on what was read before, and is the very same where it says the same', () => {
  fc.assert(
    fc.property(anyUsage, anyUsage, (one, other) => {
      const known = readUsage(one)
      expect(readUsage(other, known)).toEqual(readUsage(other))
      const isWhole = one.iterations === undefined || one.iterations.every((iteration) => iteration !== 'what')
      if (isWhole) expect(readUsage(structuredClone(one), known)).toBe(known)
      const renamed = { ...one, iterations: one.iterations?.map((it) => (it === 'what' ? it : { ...it, type: 'new' })) }
      expect(readUsage(renamed, known)).toEqual(readUsage(renamed))
    }),
  )
})

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
