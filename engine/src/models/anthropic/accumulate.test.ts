// Streams of the Messages API written by hand, in the documented order of events.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import type { Block } from '../../core/message/message.ts'
import { BrokenStream } from '../stream.ts'
import { MessageAccumulator } from './accumulate.ts'

const start = (more: JsonObject = {}): JsonObject => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 60_385,
      output_tokens: 1,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 3 },
      service_tier: 'standard',
    },
    ...more,
  },
})
const end = (usage: JsonObject = { output_tokens: 20 }, more: JsonObject = {}): readonly JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage, ...more },
  { type: 'message_stop' },
]
const block = (index: number, content_block: JsonObject, deltas: readonly JsonObject[] = []): readonly JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

function answerOf(events: readonly JsonObject[]) {
  const accumulator = new MessageAccumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer()
}

const contentOf = (...blocks: readonly (readonly JsonObject[])[]): readonly Block[] =>
  answerOf([start(), ...blocks.flat(), ...end()]).content

describe('blocks', () => {
  test('text, thinking with its signature, redacted thinking and a call are put together', () => {
    const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
    const content = contentOf(
      block(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'Look ' },
        { type: 'thinking_delta', thinking: 'first.' },
        { type: 'signature_delta', signature: 'c2lnbmVk+/==' },
      ]),
      block(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }),
      block(2, { type: 'text', text: '' }, [
        { type: 'text_delta', text: 'I lo' },
        { type: 'text_delta', text: 'ok. 🎈' },
      ]),
      block(3, { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }, [
        json(''),
        json('{"path":"a'),
        json('.ts"}'),
      ]),
      block(4, { type: 'tool_use', id: 'toolu_2', name: 'Now', input: {} }, [json('')]),
    )
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Look first.', signature: 'c2lnbmVk+/==' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'text', text: 'I look. 🎈' },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a.ts' } },
      { type: 'tool_use', id: 'toolu_2', name: 'Now', input: {} },
    ])
  })

  test('are in the order of their numbers, also where two are open at once', () => {
    const [one = [], two = []] = ['one', 'two'].map((text, at) =>
      block(at, { type: 'text', text: '' }, [{ type: 'text_delta', text }]),
    )
    const [first, ...rest] = one
    expect(contentOf([...two.slice(0, 1), first as JsonObject, ...rest, ...two.slice(1)])).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ])
  })

  test('a compaction keeps its encrypted content byte for byte (LangChain and the AI SDK drop it)', () => {
    const encrypted_content = 'EpsCCkYI/+==\u2028\\"'
    const content = contentOf(
      block(0, { type: 'compaction', content: null, encrypted_content: null }, [
        { type: 'compaction_delta', content: 'What was done.', encrypted_content },
      ]),
    )
    expect(content).toEqual([{ type: 'compaction', content: 'What was done.', encrypted_content }])
  })

  test('a compaction that failed, and one that came whole with its signature, stay as they are', () => {
    const failed = { type: 'compaction', content: null, encrypted_content: null }
    const whole = { type: 'compaction', content: 'What was done.', signature: 'abc' }
    expect(contentOf(block(0, failed, [{ type: 'compaction_delta', content: null }]), block(1, whole))).toEqual([
      failed,
      whole,
    ])
  })

  test('server tools, citations and kinds nobody has heard of are kept', () => {
    const unknown = { type: 'oracle', deep: [{ a: null }], text: 'x' }
    const found = {
      type: 'web_search_tool_result',
      tool_use_id: 'srv_1',
      content: [{ type: 'web_search_result', url: 'u' }],
    }
    const content = contentOf(
      block(0, { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"query":"x"}' },
      ]),
      block(1, found),
      block(2, { type: 'text', text: '', citations: null }, [
        { type: 'text_delta', text: 'So.' },
        { type: 'citations_delta', citation: { url: 'u' } },
        { type: 'citations_delta', citation: { url: 'v' } },
      ]),
      block(3, unknown, [{ type: 'oracle_delta', omen: 'good' }]),
    )
    expect(content).toEqual([
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } },
      found,
      { type: 'text', text: 'So.', citations: [{ url: 'u' }, { url: 'v' }] },
      { ...unknown, omen: 'good' },
    ])
  })

  test('a call that was cut off can be sent back, and its text is not lost', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Write', input: {} }
    const answer = answerOf([
      start(),
      ...block(0, call, [{ type: 'input_json_delta', partial_json: '{"path":"a' }]),
      ...end({ output_tokens: 4 }),
    ])
    expect([answer.content, answer.extra?.unread_inputs]).toEqual([[call], { toolu_1: '{"path":"a' }])
  })

  test('a key that would change a prototype changes nothing', () => {
    const [event] = JSON.parse('[{"type":"content_block_delta","index":0,"delta":{"type":"x","__proto__":{"bad":1}}}]')
    const accumulator = new MessageAccumulator()
    for (const one of [start(), { type: 'content_block_start', index: 0, content_block: { type: 'odd' } }, event])
      accumulator.add(one)
    accumulator.add({ type: 'content_block_stop', index: 0 })
    for (const one of end()) accumulator.add(one)
    expect('bad' in (accumulator.answer().content[0] ?? {})).toBe(false)
  })
})

describe('usage', () => {
  test('is overwritten, not added; a null and what is not sent again erase nothing', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 60_000, output_tokens: 400 },
      { type: 'message', input_tokens: 612, output_tokens: 20 },
    ]
    const answer = answerOf([
      start(),
      { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 5, input_tokens: null } },
      ...end({ input_tokens: 612, output_tokens: 20, cache_read_input_tokens: null, iterations }),
    ])
    const none = { cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
    expect(answer.usage).toEqual({
      input: 612,
      output: 20,
      cacheRead: 7,
      cacheWrite: 0,
      cacheWriteHour: 3,
      iterations: [
        { type: 'compaction', input: 60_000, output: 400, ...none },
        { type: 'message', input: 612, output: 20, ...none },
      ],
    })
    expect(answer.extra?.usage).toMatchObject({ service_tier: 'standard', iterations })
  })
})

describe('what the API says besides', () => {
  test('context management stands beside the delta (LangChain looks inside it), and a later null does not erase it', () => {
    const applied = {
      applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 900 }],
    }
    const answer = answerOf([
      start(),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 1 }, context_management: applied },
      ...end({ output_tokens: 2 }, { context_management: null }),
    ])
    expect(answer.extra?.context_management).toEqual(applied)
  })

  test('of the beginning is kept: transformations, diagnostics, and whatever else', () => {
    const input_transformations = [
      { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' },
    ]
    const diagnostics = { cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 9 } }
    const { extra } = answerOf([start({ input_transformations, diagnostics, container: null, novel: 1 }), ...end()])
    expect(extra).toEqual({ input_transformations, diagnostics, novel: 1, usage: expect.anything() })
  })
})

describe('a stream that is broken', () => {
  const text = block(0, { type: 'text', text: 'a' })
  const broken: readonly (readonly [string, readonly JsonObject[]])[] = [
    ['has no end', [start(), ...text]],
    ['has no beginning', [{ type: 'message_stop' }]],
    ['begins twice', [start(), start()]],
    ['ends inside a block', [start(), ...text.slice(0, 1), ...end()]],
    ['begins a block twice', [start(), ...text, ...text]],
    ['adds to a block that is over', [start(), ...text, { type: 'content_block_delta', index: 0, delta: {} }]],
    ['adds to a block that never began', [start(), { type: 'content_block_delta', index: 3, delta: {} }]],
    ['has a block without a type', [start(), ...block(0, {})]],
  ]
  test.each(broken)('is no answer: it %s', (_, events) => {
    expect(() => answerOf(events)).toThrow(BrokenStream)
  })
})
