// True for every stream: the answer does not depend on how it is split into events, and for any input the reader returns an
// answer or reports a broken stream.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../core/message/json.ts'
import { MessageAccumulator } from './anthropic/accumulate.ts'
import { ChatAccumulator } from './openai/accumulate.ts'
import { type Accumulator, BrokenStream } from './stream.ts'

/** A text split anywhere, even inside a character of two units. */
const cutText = fc
  .tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 5 }))
  .map(([text, cuts]) => {
    const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b)
    return { text, pieces: places.slice(1).map((place, index) => text.slice(places[index], place)) }
  })

const jsonObject = fc.dictionary(
  fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
  fc.jsonValue(),
  {
    noNullPrototype: true,
  },
)

type Made = { readonly block: JsonObject; readonly start: JsonObject; readonly deltas: readonly JsonObject[] }

const anyBlock: fc.Arbitrary<Made> = fc.oneof(
  cutText.map(({ text, pieces }) => ({
    block: { type: 'text', text },
    start: { type: 'text', text: '' },
    deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
  })),
  fc.tuple(cutText, fc.base64String()).map(([{ text, pieces }, signature]) => ({
    block: { type: 'thinking', thinking: text, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  })),
  fc.tuple(jsonObject, fc.integer({ min: 1, max: 9 })).map(([input, step]) => {
    const json = JSON.stringify(input)
    const pieces = Array.from({ length: Math.ceil(json.length / step) }, (_, at) =>
      json.slice(at * step, (at + 1) * step),
    )
    return {
      block: { type: 'tool_use', id: 't', name: 'n', input: JSON.parse(json) },
      start: { type: 'tool_use', id: 't', name: 'n', input: {} },
      deltas: pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    }
  }),
  fc.tuple(fc.option(fc.string()), fc.option(fc.base64String())).map(([content, encrypted_content]) => ({
    block: { type: 'compaction', content, encrypted_content },
    start: { type: 'compaction', content: null, encrypted_content: null },
    deltas: [{ type: 'compaction_delta', content, encrypted_content }],
  })),
)

function eventsOf(blocks: readonly Made[]): readonly JsonObject[] {
  return [
    { type: 'message_start', message: { id: 'm', model: 'x', usage: { input_tokens: 1, output_tokens: 1 } } },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
}

function read(accumulator: Accumulator, events: readonly unknown[]) {
  for (const event of events) accumulator.add(event)
  return accumulator.answer()
}

describe('the Messages API', () => {
  test('the answer is the blocks, however they were cut', () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 5 }), (blocks) => {
        const answer = read(new MessageAccumulator(), eventsOf(blocks))
        expect(answer.content).toEqual(blocks.map(({ block }) => block))
      }),
    )
  })

  test('a stream that stops anywhere before its end is broken, never a shorter answer', () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 4 }), fc.nat(), (blocks, at) => {
        const events = eventsOf(blocks)
        const cut = events.slice(0, at % events.length)
        expect(() => read(new MessageAccumulator(), cut)).toThrow(BrokenStream)
      }),
    )
  })
})

/** Real kinds of events with random fields. */
const anyEvent = fc.oneof(
  fc.anything(),
  fc.record(
    {
      type: fc.constantFrom(
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
        'message',
      ),
      index: fc.oneof(fc.nat(3), fc.anything()),
      message: fc.anything(),
      content_block: fc.oneof(fc.record({ type: fc.constantFrom('text', 'tool_use', 'odd') }), fc.anything()),
      delta: fc.oneof(
        fc.record({
          type: fc.constantFrom('text_delta', 'input_json_delta', 'citations_delta', 'odd'),
          partial_json: fc.anything(),
        }),
        fc.anything(),
      ),
      usage: fc.anything(),
      content: fc.anything(),
    },
    { requiredKeys: ['type'] },
  ),
)

const anyChunk = fc.oneof(
  fc.anything(),
  fc.record({
    id: fc.anything(),
    usage: fc.anything(),
    choices: fc.array(
      fc.record({
        finish_reason: fc.oneof(fc.constantFrom('stop', 'length', null), fc.anything()),
        delta: fc.record({
          content: fc.anything(),
          tool_calls: fc.array(fc.record({ index: fc.anything(), id: fc.anything(), function: fc.anything() })),
        }),
      }),
      { maxLength: 2 },
    ),
  }),
)

test.each<readonly [string, () => Accumulator, fc.Arbitrary<unknown>]>([
  ['the Messages API', () => new MessageAccumulator(), anyEvent],
  ['chat completions', () => new ChatAccumulator(), anyChunk],
])('whatever comes, %s has an answer or a broken stream', (_, create, anything) => {
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 12 }), (events) => {
      try {
        const answer = read(create(), events)
        expect(answer.content.every(({ type }) => typeof type === 'string')).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(BrokenStream)
      }
    }),
  )
})
