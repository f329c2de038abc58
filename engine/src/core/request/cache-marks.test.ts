import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Markable, withCacheMarks } from './cache-marks.ts'

const text = (value: string) => ({ type: 'text', text: value })
const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }

const anyRequest = fc
  .record({
    system: fc.constantFrom(undefined, '', 'You answer.'),
    tools: fc.constantFrom(undefined, [], [{ name: 'Read' }, { name: 'Write' }]),
    rounds: fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 8 }),
  })
  .map(({ system, tools, rounds }): Markable => {
    const messages = rounds.flatMap((blocks) => [
      { role: 'user' as const, content: Array.from({ length: blocks }, (_, at) => text(`part ${at}`)) },
      { role: 'assistant' as const, content: [text('ok'), thought] },
    ])
    return { system, tools, messages }
  })

const marksIn = (value: unknown) => JSON.stringify(value)?.match(/cache_control/g)?.length ?? 0

test('there are never more than four marks, never one on thinking, and nothing else changes', () => {
  fc.assert(
    fc.property(anyRequest, fc.array(fc.nat({ max: 15 }), { maxLength: 4 }), (request, places) => {
      const anchors = [...new Set(places)].filter((at) => at < request.messages.length).toSorted((a, b) => a - b)
      const marked = withCacheMarks(request, { lifetime: '5m', anchors })
      expect(marksIn(marked)).toBeLessThanOrEqual(4)
      expect(marksIn(marked.messages)).toBeGreaterThan(0)
      const blocks = marked.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      expect(blocks.filter(({ type, cache_control }) => type === 'thinking' && cache_control)).toEqual([])
      const bare = JSON.parse(
        JSON.stringify(marked.messages, (key, value) => (key === 'cache_control' ? undefined : value)),
      )
      expect(bare).toEqual(request.messages)
    }),
  )
})
