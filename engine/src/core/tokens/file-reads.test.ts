import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AnsweredCall, type FileRead, fileEventOf, staleReads } from './file-reads.ts'

const anyRead = fc.record({
  path: fc.constantFrom('a.ts', 'b.ts'),
  offset: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  isGone: fc.boolean(),
})

test('a read is there again when a later one that is still there brings every line of it', () => {
  fc.assert(
    fc.property(fc.array(anyRead, { maxLength: 30 }), (reads) => {
      const calls = reads.map(({ path, offset, limit, isGone }, nth) => ({
        isGone,
        call: { type: 'tool_use', id: `${nth}`, name: 'Read', input: { file_path: path, offset, limit } },
        result: { type: 'tool_result', tool_use_id: `${nth}`, content: 'lines' },
      })) satisfies readonly (AnsweredCall & { readonly isGone: boolean })[]
      const found = calls.flatMap((call) => {
        const event = fileEventOf(call)
        return event?.type === 'read' ? [{ ...event.read, isGone: call.isGone }] : []
      })
      const isAgain = (read: FileRead, nth: number) =>
        found.some(
          (other, at) =>
            at > nth && !other.isGone && other.path === read.path && other.from <= read.from && other.to >= read.to,
        )
      const again = found.filter(isAgain).map(({ toolUseId }) => toolUseId)
      expect(staleReads(calls, { isGone: ({ isGone }) => isGone }).map(({ toolUseId }) => toolUseId)).toEqual(again)
    }),
  )
})
