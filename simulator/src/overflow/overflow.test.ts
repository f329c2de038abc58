// What does not fit, told in every documented shape.
import { describe, expect, test } from 'vitest'
import { ask, errorOf, eventsIn, send, simulate } from '../testing/ask.ts'
import { overflowShapes } from './overflow.ts'

const small = { 'claude-opus-5': 500, 'claude-sonnet-4': 500 }
const simulator = simulate({
  windows: small,
  script: () => ({ content: [{ type: 'text', text: 'word '.repeat(400) }] }),
})
const words = (count: number) => [{ role: 'user', content: 'word'.concat(' word'.repeat(count - 1)) }]
const base = { model: 'claude-opus-5', max_tokens: 100, messages: words(600) }

describe('an overflow', () => {
  test('of the prompt alone names both numbers', async () => {
    const told = await ask(simulator, base)
    expect([told.status, errorOf(told)]).toEqual([
      400,
      { type: 'invalid_request_error', message: 'prompt is too long: 604 tokens > 500 maximum' },
    ])
  })

  test('of prompt and max_tokens is refused by models before 4.5', async () => {
    const old = { ...base, model: 'claude-sonnet-4-20250514', messages: words(450) }
    expect(errorOf(await ask(simulator, old))).toEqual({
      type: 'invalid_request_error',
      message:
        'input length and `max_tokens` exceed context limit: 454 + 100 > 500, decrease input length or `max_tokens` and try again',
    })
    const headers = { 'anthropic-beta': 'model-context-window-exceeded-2025-08-26' }
    const opted = await ask(simulator, old, { headers })
    expect([opted.status, opted.body.stop_reason]).toEqual([200, 'model_context_window_exceeded'])
  })

  test('is none where prompt and max_tokens fill the window to the last token', async () => {
    const old = { ...base, model: 'claude-sonnet-4-20250514', messages: words(396) }
    expect((await ask(simulator, old)).status).toBe(200)
    expect((await ask(simulator, { ...old, max_tokens: 101 })).status).toBe(400)
  })

  test('of prompt and max_tokens is accepted since 4.5 and ends at the window', async () => {
    const told = await ask(simulator, { ...base, max_tokens: 4_000, messages: words(450) })
    expect(told.body).toMatchObject({ stop_reason: 'model_context_window_exceeded', usage: { output_tokens: 46 } })
  })

  test('inside a stream that began with 200', async () => {
    const headers = { 'x-everlong-overflow': 'stream' }
    const response = await send(simulator, { ...base, stream: true }, { headers })
    const events = await eventsIn(response)
    expect([response.status, ...events.map(({ type }) => type)]).toEqual([200, 'message_start', 'ping', 'error'])
    expect(events[2]).toMatchObject({
      error: { type: 'invalid_request_error', message: 'prompt is too long: 604 tokens > 500 maximum' },
    })
  })

  test('of a request that is not streamed is no stream', async () => {
    const headers = { 'x-everlong-overflow': 'stream' }
    const { status, body } = await ask(simulator, base, { headers })
    expect([status, body.type]).toEqual([400, 'error'])
  })

  test('is told in the words of other providers on request', async () => {
    const told: Record<string, string> = {}
    for (const shape of overflowShapes) {
      const response = await send(simulator, base, { headers: { 'x-everlong-overflow': shape } })
      const body = (await response.text()).replace(/req_\w+/, 'req')
      told[shape] = `${response.status} ${response.headers.get('content-type')} ${body}`
    }
    expect(told).toMatchSnapshot()
  })

  test('has the shape of the whole simulator where no header says otherwise', async () => {
    const bedrock = simulate({ windows: small, overflow: 'bedrock' })
    expect(await ask(bedrock, base)).toEqual({
      status: 400,
      body: { message: 'Input is too long for requested model.' },
    })
  })

  test('of bytes comes as text where the proxy speaks', async () => {
    const tight = simulate({ maxBodyBytes: 100 })
    const response = await send(tight, base, { headers: { 'x-everlong-overflow': '413-text' } })
    expect([response.status, response.headers.get('content-type')]).toEqual([413, 'text/html'])
  })

  test('leaves count_tokens alone', async () => {
    const { max_tokens: _, ...counted } = base
    const told = await ask(simulator, counted, { path: '/v1/messages/count_tokens' })
    expect(told).toEqual({ status: 200, body: { input_tokens: 604 } })
  })

  test('of a wide window goes away with the beta that widens it', async () => {
    const wide = { ...base, model: 'claude-sonnet-4-5', messages: words(201_000), max_tokens: 10 }
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' }
    expect((await ask(simulator, wide)).status).toBe(400)
    expect((await ask(simulator, wide, { headers })).status).toBe(200)
  })
})
