import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block } from '../message/message.ts'
import { type Markable, withCacheMarks, withLegalMarks } from './cache-marks.ts'

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

test('what no longer changes is kept as long as the head, and the newest message as short as the rest', () => {
  const round = (at: number) => [
    { role: 'user' as const, content: [text(`ask ${at}`)] },
    { role: 'assistant' as const, content: [text('ok')] },
  ]
  const messages = [...[0, 1, 2].flatMap(round), { role: 'user' as const, content: [text('end')] }]
  const lifetimes = (anchors: readonly number[]) => {
    const marked = withCacheMarks({ system: 'You answer.', messages }, { lifetime: '5m', head: '1h', anchors })
    const found = [
      ...(marked.system as unknown as Block[]),
      ...marked.messages.flatMap(({ content }) => content as Block[]),
    ]
    return found.flatMap(({ text: words, cache_control: mark }) =>
      mark ? [[words, (mark as { ttl?: string }).ttl ?? '5m']] : [],
    )
  }
  const head = ['You answer.', '1h']
  expect(lifetimes([0, 2])).toEqual([head, ['ask 0', '1h'], ['ask 1', '1h'], ['end', '5m']])
  expect(lifetimes([0, 2, 6])).toEqual([head, ['ask 0', '1h'], ['ask 1', '1h'], ['end', '5m']])
  expect(lifetimes([2, 6])).toEqual([head, ['ask 1', '1h'], ['ask 2', '5m'], ['end', '5m']])
})

describe('marks of the host', () => {
  const mark = (ttl?: '1h') => ({ cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } })
  const user = (...content: Block[]) => ({ role: 'user' as const, content })
  const said = { role: 'assistant' as const, content: [text('ok')] }
  const texts = (request: Markable) =>
    request.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ cache_control: own }) => own).map((block) => block.text),
    )

  test('stay, and ours take the places that are left', () => {
    const messages = ['a', 'b', 'c'].flatMap((at) => [user({ ...text(at), ...mark() }), said])
    const marked = withCacheMarks(
      { system: 'You answer.', messages: [...messages, user(text('end'))] },
      { lifetime: '5m' },
    )
    expect([marksIn(marked.system), texts(marked)]).toEqual([1, ['a', 'b', 'c']])
    const two = withCacheMarks(
      { system: 'You answer.', messages: [...messages.slice(2), user(text('end'))] },
      { lifetime: '5m' },
    )
    expect([marksIn(two.system), texts(two)]).toEqual([1, ['b', 'c', 'end']])
  })

  test('are the newest, where there are more than four; those of system prompt and tools stay', () => {
    const messages = ['a', 'b', 'c', 'd', 'e'].flatMap((at) => [user({ ...text(at), ...mark() }), said])
    expect(texts(withLegalMarks({ messages }))).toEqual(['b', 'c', 'd', 'e'])
    const system = [{ ...text('You answer.'), ...mark() }]
    const marked = withCacheMarks({ system, messages: [...messages, user(text('end'))] }, { lifetime: '5m' })
    expect([marked.system, texts(marked)]).toEqual([system, ['c', 'd', 'e']])
  })

  test('count inside results too, and one at the top level takes a place', () => {
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: [{ ...text(id), ...mark() }] })
    const messages = ['a', 'b', 'c', 'd', 'e'].flatMap((id) => [user(result(id)), said])
    expect(JSON.stringify(withLegalMarks({ messages })).match(/"text":"\w","cache_control/g)).toHaveLength(4)
    const options = mark()
    const automatic = withCacheMarks({ messages, options }, { lifetime: '5m' })
    expect(marksIn(automatic.messages)).toBe(3)
    expect(automatic.options).toEqual(options)
    // The automatic mark falls on the last block, so ours would be a second one there.
    expect(texts(withCacheMarks({ messages: [user(text('end'))], options }, { lifetime: '1h' }))).toEqual([])
  })

  test('never come for an hour after five minutes', () => {
    const long = { messages: [user(text('a')), said, user({ ...text('b'), ...mark('1h') })], system: 'You answer.' }
    expect(JSON.stringify(withCacheMarks(long, { lifetime: '5m' })).match(/ephemeral"(?!,"ttl":"1h")/g)).toBe(null)
    const wrong = { messages: [user({ ...text('a'), ...mark() }), said, user({ ...text('b'), ...mark('1h') })] }
    expect(withLegalMarks(wrong).messages.at(-1)).toEqual(user({ ...text('b'), ...mark() }))
  })

  test('that are legal leave the request as it is', () => {
    const request = { messages: [user({ ...text('a'), ...mark('1h') }), said, user({ ...text('b'), ...mark() })] }
    expect(withLegalMarks(request)).toBe(request)
  })
})
