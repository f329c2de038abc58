import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contextTokens, noTokens, readUsage } from './usage.ts'

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
    }),
  )
})

test('the size of an answer that ends in a compaction of the server is that of its last sampling', () => {
  const iteration = (type: string, input: number) => ({ ...noTokens, input, type })
  const iterations = [iteration('message', 500), iteration('compaction', 90_000)]
  expect(contextTokens({ ...noTokens, input: 7, iterations })).toBe(500)
})

test('a usage that cannot be is none', () => {
  const usage = { input_tokens: 5, output_tokens: 5 }
  const absurd = [{ input_tokens: -1 }, { output_tokens: Number.NaN }, { cache_read_input_tokens: 1 / 0 }]
  expect(absurd.map((wrong) => readUsage({ ...usage, ...wrong }))).toEqual([undefined, undefined, undefined])
  expect(readUsage(usage)).toMatchObject({ input: 5, output: 5 })
})
