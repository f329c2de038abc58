import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedBy, toolCall } from '../tools/call.ts'
import { readBy, staleReads } from './file-reads.ts'

const anyCall = fc.record({
  path: fc.constantFrom('a.ts', 'b.ts'),
  name: fc.constantFrom('Read', 'Read', 'Read', 'Edit', 'Bash'),
  offset: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  gone: fc.boolean(),
})
type Choice = typeof anyCall extends fc.Arbitrary<infer T> ? T : never

const callsOf = (choices: readonly Choice[]) =>
  choices.map(({ path, name, offset, limit, gone }, nth) => ({
    gone,
    call: toolCall({ name, input: { file_path: path, offset, limit } }),
    result: { type: 'tool_result', tool_use_id: `${nth}`, content: 'lines' } as const,
  }))

/** Follows the definition: compares each read with everything after it. */
function expected(calls: ReturnType<typeof callsOf>) {
  const events = calls.map(({ call, result, gone }) => ({ read: readBy(call, result), changed: changedBy(call), gone }))
  return events.map(({ read }, nth) => {
    if (!read) return undefined
    const { path, from, to } = read
    const later = events.slice(nth + 1)
    const isAgain = later.some(
      ({ read: other, gone }) => other && !gone && other.path === path && other.from <= from && other.to >= to,
    )
    const isChanged = later.some(({ changed }) => changed.includes(path))
    if (isAgain) return 'read-again'
    return isChanged && from === 1 && to === Number.POSITIVE_INFINITY ? 'changed-since' : undefined
  })
}

test('a read is stale when a later one that is there brings its lines, or its file was changed since', () => {
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 30 }), (choices) => {
      const calls = callsOf(choices)
      const stale = staleReads(calls, ({ gone }) => gone)
      expect(calls.map(({ result }) => stale.get(result.tool_use_id))).toEqual(expected(calls))
    }),
  )
})
