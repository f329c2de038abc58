// Everlong's own client for OpenAI-compatible servers, over real HTTP on this machine.
import type { ModelRequest, StreamEvent } from 'everlong'
import { type OpenAIOptions, openai } from 'everlong/openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { overflowShapes } from '../overflow/overflow.ts'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'
import { stillPorts } from '../testing/still-ports.ts'

const script = callsOnce([
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', name: 'read', input: { path: 'a.ts' } },
  { type: 'tool_use', name: 'read', input: { path: 'é.ts' } },
])

let server: RunningServer

beforeAll(async () => {
  server = await startServer({ script, windows: { 'gpt-tiny': 500 } })
})
afterAll(() => server.close())

const clientOf = (options: Partial<OpenAIOptions> = {}) =>
  openai({ model: 'gpt-large', apiKey: 'key', baseURL: `${server.url}/v1`, ports: stillPorts(), ...options })

const hello: ModelRequest = { source: 'turn', model: 'gpt-large', messages: [{ role: 'user', content: 'Hello' }] }
const long = { ...hello, model: 'gpt-tiny', messages: [{ role: 'user' as const, content: 'word '.repeat(600) }] }
const tools = [{ name: 'read', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }]

describe('the OpenAI client', () => {
  test('streams an answer and tells it as it comes', async () => {
    const events: StreamEvent[] = []
    const answer = await clientOf().send(hello, { onEvent: (event) => events.push(event) })
    const text = 'A plain answer with 🎈 in it, long enough to come in several pieces.'
    expect(answer).toMatchObject({
      type: 'answer',
      model: 'gpt-large',
      content: [{ type: 'text', text }],
      stopReason: 'end_turn',
      usage: { input: 5, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
    })
    expect(events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('')).toBe(text)
  })

  test('goes through tool calls as if it were the Messages API', async () => {
    const asked = await clientOf().send({ ...hello, tools })
    if (asked.type === 'failed') throw new Error(asked.message)
    expect(asked.stopReason).toBe('tool_use')
    expect(asked.content).toEqual([
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', id: expect.stringMatching(/^call/), name: 'read', input: { path: 'a.ts' } },
      { type: 'tool_use', id: expect.stringMatching(/^call/), name: 'read', input: { path: 'é.ts' } },
    ])
    const results = asked.content.slice(1).map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: String(id),
      content: [{ type: 'text', text: 'export {}' }],
    }))
    const answered = await clientOf().send({
      ...hello,
      tools,
      messages: [...hello.messages, { role: 'assistant', content: asked.content }, { role: 'user', content: results }],
    })
    expect(answered).toMatchObject({ type: 'answer', stopReason: 'end_turn' })
  })

  test('counts cached tokens apart', async () => {
    const request = { ...hello, system: 'word '.repeat(2_000) }
    await clientOf().send(request)
    const second = await clientOf().send(request)
    if (second.type === 'failed') throw new Error(second.message)
    expect(second.usage.cacheRead).toBeGreaterThan(1_900)
    expect(second.usage.input).toBeLessThan(150)
  })

  test('puts on the wire what the request says, and nothing else', async () => {
    const seen: unknown[] = []
    const fetch: OpenAIOptions['fetch'] = (input, init) => {
      const headers = new Headers(init?.headers)
      seen.push([String(input).replace(server.url, ''), headers.get('authorization'), init?.body])
      return globalThis.fetch(input, init)
    }
    await clientOf({ fetch }).send({ ...hello, system: 'Be brief.', maxTokens: 9 })
    const system = '{"role":"system","content":"Be brief."}'
    const messages = `[${system},{"role":"user","content":"Hello"}]`
    const rest = '"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}'
    expect(seen).toEqual([
      ['/v1/chat/completions', 'Bearer key', `{"model":"gpt-large","messages":${messages},${rest}}`],
    ])
  })

  // An error inside a stream is the Messages API's own way; chat completions of the simulator refuse before they begin.
  test.each(overflowShapes)('knows an overflow told the way of %s', async (shape) => {
    const failed = await clientOf({ headers: { 'x-everlong-overflow': shape } }).send(long)
    const isBytes = shape === '413' || shape === '413-text'
    expect(failed).toMatchObject({ type: 'failed', reason: isBytes ? 'too-large' : 'overflow', tries: 1 })
    const silent = ['413', '413-text', 'bedrock', 'gateway', 'gateway-413', 'groq']
    if (silent.includes(shape)) return
    expect(failed).toMatchObject({ overflow: { actual: 605, limit: 500 } })
  })
})
