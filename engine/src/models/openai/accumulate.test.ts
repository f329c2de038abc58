// Streams of chat completions from different servers.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { BrokenStream } from '../stream.ts'
import { ChatAccumulator } from './accumulate.ts'

const chunk = (delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  model: 'any',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})

function answerOf(chunks: readonly unknown[]) {
  const accumulator = new ChatAccumulator()
  const pieces = chunks.map((one) => accumulator.add(one))
  return { ...accumulator.answer(), pieces }
}

describe('calls', () => {
  const expected = [
    { type: 'tool_use', id: 'a', name: 'read', input: { path: 'é.ts' } },
    { type: 'tool_use', id: 'b', name: 'list', input: {} },
  ]

  test('come in pieces by index', () => {
    const call = (index: number, more: JsonObject) => chunk({ tool_calls: [{ index, ...more }] })
    const answer = answerOf([
      call(0, { id: 'a', type: 'function', function: { name: 'read', arguments: '' } }),
      call(0, { function: { arguments: '{"path":' } }),
      call(1, { id: 'b', type: 'function', function: { name: 'list', arguments: '' } }),
      call(0, { function: { arguments: '"é.ts"}' } }),
      chunk({}, 'tool_calls'),
    ])
    expect([answer.content, answer.stopReason]).toEqual([expected, 'tool_use'])
  })

  test('come whole, without an index, with "stop" (local servers)', () => {
    const whole = (id: string, name: string, args: unknown) => ({ id, function: { name, arguments: args } })
    const answer = answerOf([
      chunk({ tool_calls: [whole('a', 'read', { path: 'é.ts' }), whole('b', 'list', '{}')] }),
      chunk({}, 'stop'),
    ])
    expect([answer.content, answer.stopReason]).toEqual([expected, 'tool_use'])
  })

  test('without an id get one that no other answer has, and one that is no JSON stays sendable', () => {
    const answer = answerOf([
      chunk({ tool_calls: [{ index: 0, function: { name: 'read', arguments: '{"pa' } }] }, 'length'),
    ])
    expect([answer.content, answer.extra?.unread_inputs, answer.stopReason]).toEqual([
      [{ type: 'tool_use', id: 'call_0_chatcmpl-1', name: 'read', input: {} }],
      { 'call_0_chatcmpl-1': '{"pa' },
      'max_tokens',
    ])
  })

  test('come whole without anything to tell them apart but their names', () => {
    const whole = (name: string) => ({ function: { name, arguments: '{}' } })
    const answer = answerOf([chunk({ tool_calls: [whole('read'), whole('read')] }), chunk({}, 'stop')])
    expect(answer.content).toEqual([
      { type: 'tool_use', id: 'call_0_chatcmpl-1', name: 'read', input: {} },
      { type: 'tool_use', id: 'call_1_chatcmpl-1', name: 'read', input: {} },
    ])
  })

  test('an index out of this world makes no hole', () => {
    const call = { index: 4_000_000_000, id: 'a', function: { name: 'read', arguments: '{}' } }
    const answer = answerOf([chunk({ tool_calls: [call] }, 'tool_calls')])
    expect(answer.content).toEqual([{ type: 'tool_use', id: 'a', name: 'read', input: {} }])
  })
})

describe('text', () => {
  test('and thinking, under either of its names, are told apart', () => {
    const answer = answerOf([
      chunk({ reasoning_content: 'Hm. ' }),
      chunk({ reasoning: 'So.' }),
      chunk({ content: 'Yes.' }),
      chunk({ content: '' }, 'stop'),
    ])
    expect(answer.content).toEqual([
      { type: 'thinking', thinking: 'Hm. So.' },
      { type: 'text', text: 'Yes.' },
    ])
    expect(answer.pieces.map((piece) => piece?.type)).toEqual(['thinking', 'thinking', 'text', 'json'])
  })

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['model_context_window_exceeded', 'model_context_window_exceeded'],
  ])('that ends with %s stops as %s', (finish, stopReason) => {
    expect(answerOf([chunk({ content: 'a' }, finish)]).stopReason).toBe(stopReason)
  })

  test('of a refusal is text, and a refusal', () => {
    const answer = answerOf([chunk({ refusal: 'I will ' }), chunk({ refusal: 'not.' }, 'stop')])
    expect([answer.content, answer.stopReason]).toEqual([[{ type: 'text', text: 'I will not.' }], 'refusal'])
  })
})

describe('usage', () => {
  const counts = { cacheWrite: 0, cacheWriteHour: 0 }
  test('counts cached tokens apart, under either of their names', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 64 } }
    const deepseek = { prompt_tokens: 100, completion_tokens: 9, prompt_cache_hit_tokens: 64 }
    for (const told of [usage, deepseek]) {
      const answer = answerOf([chunk({ content: 'a' }, 'stop'), { id: 'x', choices: [], usage: told }])
      expect(answer.usage).toEqual({ ...counts, input: 36, cacheRead: 64, output: 9 })
    }
  })

  test('that is told with every chunk is that of the last one', () => {
    const told = (completion_tokens: number) => ({ usage: { prompt_tokens: 100, completion_tokens } })
    const { usage } = answerOf([chunk({ content: 'a' }, null, told(1)), chunk({ content: 'b' }, 'stop', told(2))])
    expect(usage).toEqual({ ...counts, input: 100, cacheRead: 0, output: 2 })
  })

  test('that is not told is nothing, and the answer says that it was not told', () => {
    const answer = answerOf([chunk({ content: 'a' }, 'stop')])
    expect([answer.usage, answer.extra?.usage]).toEqual([{ ...counts, input: 0, cacheRead: 0, output: 0 }, null])
  })
})

test('a stream without a finish reason was cut', () => {
  expect(() => answerOf([chunk({ content: 'a' })])).toThrow(BrokenStream)
  expect(() => answerOf([])).toThrow(BrokenStream)
  expect(() => answerOf([null, 7, { choices: [null] }])).toThrow(BrokenStream)
})
