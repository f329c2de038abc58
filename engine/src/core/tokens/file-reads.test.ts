import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../message/message.ts'
import { createStaleReads, duplicateReads, fileEventOf, whyStale } from './file-reads.ts'

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
    fc.property(fc.array(anyCall, { maxLength: 30 }), fc.nat(30), (choices, left) => {
      const calls = callsOf(choices)
      const stale = createStaleReads()
      const undos = calls.map((call) => stale.take(call, call))
      expect(calls.map(({ call }) => whyStale(stale.readsOf(call.id)))).toEqual(expected(calls))
      // Taken back from the end, it is as if those had never been taken in.
      for (const undo of undos.slice(left).toReversed()) undo?.()
      const rest = calls.slice(0, left)
      expect(rest.map(({ call }) => whyStale(stale.readsOf(call.id)))).toEqual(expected(rest))
      expect(calls.slice(left).map(({ call }) => whyStale(stale.readsOf(call.id)))).toEqual(
        calls.slice(left).map(() => undefined),
      )
    }),
  )
})

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1} of the file`).join('\n')

function reads(...results: readonly (readonly [JSON: object, text: string])[]): readonly Message[] {
  return results.flatMap(([input, content], at): readonly Message[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: '/a', ...input } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content }] },
  ])
}

const duplicates = (messages: readonly Message[]) => duplicateReads(messages).map(({ toolUseId }) => toolUseId)

describe('a read that was asked to go to the end', () => {
  const tail = [{ offset: 2_500, limit: 100 }, lines(100)] as const

  test('brings everything again when it did', () => {
    expect(duplicates(reads([{ offset: 90, limit: 10 }, lines(10)], [{}, lines(120)]))).toEqual(['t0'])
  })

  test('and was ended by the client does not bring again what lies behind its end', () => {
    expect(duplicates(reads(tail, [{}, lines(2_000)]))).toEqual([])
    expect(duplicates(reads([{ offset: 900, limit: 100 }, lines(100)], [{}, lines(2_000)]))).toEqual(['t0'])
  })

  test('and says that it was cut short, neither', () => {
    expect(duplicates(reads(tail, [{}, `${lines(700)}\n[Output truncated]`]))).toEqual([])
  })
})
