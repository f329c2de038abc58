import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileEventOf } from './file-reads.ts'
import { staleReads } from './stale-reads.ts'

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
    call: { type: 'tool_use', id: `${nth}`, name, input: { file_path: path, offset, limit } } as const,
    result: { type: 'tool_result', tool_use_id: `${nth}`, content: 'lines' } as const,
  }))

/** By the definition, each read against everything behind it. */
function expected(calls: ReturnType<typeof callsOf>) {
  const events = calls.map((call) => ({ event: fileEventOf(call), gone: call.gone }))
  return events.map(({ event }, nth) => {
    if (event?.type !== 'read') return undefined
    const { path, from, to } = event.read
    const later = events.slice(nth + 1)
    const isAgain = later.some(
      ({ event: other, gone }) =>
        other?.type === 'read' && !gone && other.read.path === path && other.read.from <= from && other.read.to >= to,
    )
    const isChanged = later.some(({ event: other }) => other?.type === 'changed' && other.paths.includes(path))
    if (isAgain) return 'read-again'
    return isChanged && from === 1 && to === Number.POSITIVE_INFINITY ? 'changed-since' : undefined
  })
}

test('a read is stale when a later one that is there brings its lines, or its file was changed since', () => {
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 30 }), (choices) => {
      const calls = callsOf(choices)
      const gone = new Set<unknown>(calls.filter(({ gone: isGone }) => isGone))
      const stale = staleReads(calls, (call) => gone.has(call))
      expect(calls.map(({ call }) => stale.get(call.id))).toEqual(expected(calls))
    }),
  )
})
