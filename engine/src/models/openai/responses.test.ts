// Streams of the Responses API: how they end.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { BrokenStream } from '../stream.ts'
import { openai } from './client.ts'
import { ResponsesAccumulator } from './responses.ts'

const message = (...content: readonly JsonObject[]): JsonObject => ({ type: 'message', role: 'assistant', content })
const said = message({ type: 'output_text', text: 'As far as I' })
const response = (more: JsonObject): JsonObject => ({
  object: 'response',
  id: 'r',
  model: 'm',
  output: [said],
  ...more,
})

const fail = () => Promise.reject(new Error('not called'))

function answerOf(...events: readonly unknown[]) {
  const accumulator = new ResponsesAccumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer()
}

describe('a response', () => {
  test.each<[string, JsonObject, string]>([
    ['is complete', { status: 'completed' }, 'end_turn'],
    ['ends at its limit', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'max_tokens'],
    ['is filtered', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'refusal'],
  ])('that %s keeps what was said and says why it ended', (_, more, stopReason) => {
    const event = { type: `response.${String(more.status)}`, response: response(more) }
    expect(answerOf(event)).toMatchObject({ content: [{ type: 'text', text: 'As far as I' }], stopReason })
    // A server that does not stream sends only the response.
    expect(answerOf(response(more))).toMatchObject({ stopReason })
  })

  const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }

  test.each<[string, readonly unknown[]]>([
    ['in its last event', [{ type: 'response.failed', response: response({ status: 'failed', error }) }]],
    ['without a stream', [response({ status: 'failed', error })]],
    ['in an event of its own', [{ type: 'error', error }]],
    ['in the fields of an event of its own', [{ type: 'error', ...error }]],
  ])('that failed throws the error that the server told %s', (_, events) => {
    const begun = { type: 'response.output_text.delta', delta: 'As' }
    expect(() => answerOf(begun, ...events)).toThrow(
      expect.objectContaining({ message: error.message, status: 400, error: expect.objectContaining(error) }),
    )
  })

  test('that failed is a value for the caller; what the server calls temporary is sent again', async () => {
    const sentFor = async (code: string) => {
      let sent = 0
      const failed = {
        type: 'response.failed',
        response: response({ status: 'failed', error: { code, message: 'No.' } }),
      }
      const create = async function* () {
        sent++
        yield failed
      }
      const client = openai({
        model: 'm',
        api: 'responses',
        client: { chat: { completions: { create: fail } }, responses: { create: async () => create() } },
        ports: { now: () => 0, random: () => 0, wait: async () => undefined },
      })
      const { type } = await client.send({
        source: 'compact',
        model: 'm',
        messages: [{ role: 'user', content: 'Hi.' }],
      })
      return [type, sent]
    }
    expect(await sentFor('invalid_prompt')).toEqual(['failed', 1])
    expect(await sentFor('server_error')).toEqual(['failed', 3])
    expect(await sentFor('rate_limit_exceeded')).toEqual(['failed', 3])
  })

  test('keeps the arguments of a call that were cut off, as text', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"path": "/a' }
    const whole = { ...call, call_id: 'd', arguments: '{"path":"/a"}' }
    expect(answerOf(response({ status: 'incomplete', output: [call, whole] }))).toMatchObject({
      content: [
        { type: 'tool_use', id: 'c', input: {} },
        { type: 'tool_use', id: 'd', input: { path: '/a' } },
      ],
      extra: { unread_inputs: { c: '{"path": "/a' } },
    })
  })

  test('that has no end is a broken stream', () => {
    expect(() => answerOf({ type: 'response.output_text.delta', delta: 'As' })).toThrow(BrokenStream)
  })
})
