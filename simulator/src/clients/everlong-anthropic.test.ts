// Everlong's own client for the Messages API, over real HTTP on this machine.
import type { ModelRequest, StreamEvent } from 'everlong'
import { type AnthropicOptions, anthropic } from 'everlong/models'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { overflowShapes } from '../overflow/overflow.ts'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'
import { stillPorts } from '../testing/still-ports.ts'

const tool = {
  name: 'read_file',
  description: 'Reads a file',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
}

const script = callsOnce([
  { type: 'thinking', thinking: 'A file must be read.' },
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', name: 'read_file', input: { path: 'src/main.ts', lines: [1, 2], deep: { é: '🎈' } } },
])

let server: RunningServer

beforeAll(async () => {
  server = await startServer({ script, windows: { 'claude-haiku-4-5': 500, 'claude-opus-4-1': 500 } })
})
afterAll(() => server.close())

const clientOf = (options: Partial<AnthropicOptions> = {}) =>
  anthropic({ model: 'claude-sonnet-5', apiKey: 'key', baseURL: server.url, ports: stillPorts(), ...options })

const hello: ModelRequest = {
  source: 'turn',
  model: 'claude-sonnet-5',
  maxTokens: 200,
  messages: [{ role: 'user', content: 'Hello' }],
}
const long = {
  ...hello,
  model: 'claude-haiku-4-5',
  messages: [{ role: 'user' as const, content: 'word '.repeat(600) }],
}

describe('the Anthropic client', () => {
  test('streams an answer and tells it as it comes', async () => {
    const events: StreamEvent[] = []
    const answer = await clientOf().send(hello, { onEvent: (event) => events.push(event) })
    const text = 'A plain answer with 🎈 in it, long enough to come in several pieces.'
    expect(answer).toMatchObject({
      type: 'answer',
      model: 'claude-sonnet-5',
      content: [{ type: 'text', text }],
      stopReason: 'end_turn',
      usage: { input: 5, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
    })
    expect(events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('')).toBe(text)
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(1)
  })

  test('brings back thinking with its signature and calls with their input, fit to be sent again', async () => {
    const request = { ...hello, tools: [tool], thinking: { type: 'adaptive' } }
    const asked = await clientOf().send(request)
    if (asked.type === 'failed') throw new Error(asked.message)
    expect(asked.stopReason).toBe('tool_use')
    expect(asked.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use'])
    expect(asked.content[2]).toMatchObject({ input: { path: 'src/main.ts', lines: [1, 2], deep: { é: '🎈' } } })
    const result = { type: 'tool_result', tool_use_id: String(asked.content[2]?.id), content: 'export {}' }
    const answered = await clientOf().send({
      ...request,
      messages: [...hello.messages, { role: 'assistant', content: asked.content }, { role: 'user', content: [result] }],
    })
    expect(answered).toMatchObject({ type: 'answer', stopReason: 'end_turn' })
  })

  test.each(overflowShapes)('knows an overflow told the way of %s', async (shape) => {
    const failed = await clientOf({ headers: { 'x-everlong-overflow': shape } }).send(long)
    const isBytes = shape === '413' || shape === '413-text'
    expect(failed).toMatchObject({ type: 'failed', reason: isBytes ? 'too-large' : 'overflow', tries: 1 })
    const silent = ['413', '413-text', 'bedrock', 'gateway', 'gateway-413', 'groq']
    if (silent.includes(shape)) return
    expect(failed).toMatchObject({ overflow: { actual: 605, limit: 500 } })
  })
})
