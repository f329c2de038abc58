// Everlong's own client for the Messages API, over real HTTP on this machine.

import Anthropic from '@anthropic-ai/sdk'
import type { ModelRequest, StreamEvent } from 'everlong'
import { type AnthropicOptions, anthropic } from 'everlong/anthropic'
import { overflowOfAnswer } from 'everlong/internal'
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

  const word = (count: number) => [{ role: 'user' as const, content: 'word '.repeat(count) }]

  test('says when input and output together are too much, and how much each is', async () => {
    const request = { ...hello, model: 'claude-opus-4-1', messages: word(450) }
    expect(await clientOf().send(request)).toMatchObject({
      reason: 'overflow',
      overflow: { actual: 455, limit: 500, maxTokens: 200 },
    })
  })

  test('ends at the window with that stop reason where models do, and core knows it for an overflow', async () => {
    const answer = await clientOf().send({ ...hello, model: 'claude-haiku-4-5', messages: word(490) })
    if (answer.type === 'failed') throw new Error(answer.message)
    expect(answer.stopReason).toBe('model_context_window_exceeded')
    expect(overflowOfAnswer(answer, 500)).toEqual({ actual: 495, limit: 500 })
  })

  test('hears of an error inside a stream that had begun', async () => {
    const headers = { 'x-everlong-fault': 'error-event; after-events=4' }
    const failed = await clientOf({ headers }).send(hello)
    expect(failed).toMatchObject({ type: 'failed', reason: 'transient', message: 'Overloaded', tries: 3 })
  })

  test('passes a compaction by threshold, and its block can be sent back as it came', async () => {
    const request: ModelRequest = {
      ...hello,
      betas: ['context-management-2025-06-27', 'compact-2026-01-12'],
      messages: word(60_000),
      options: {
        context_management: { edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 } }] },
      },
    }
    const answer = await clientOf().send(request)
    if (answer.type === 'failed') throw new Error(answer.message)
    expect(answer.content.map(({ type }) => type)).toEqual(['compaction', 'text'])
    expect(answer.usage.iterations?.map(({ type }) => type)).toEqual(['compaction', 'message'])
    expect(answer.extra?.context_management).toEqual({ applied_edits: [] })
    const messages = [...request.messages, { role: 'assistant' as const, content: answer.content }, ...hello.messages]
    const later = await clientOf().send({ ...request, messages })
    expect(later).toMatchObject({ type: 'answer', usage: { input: expect.any(Number) } })
    if (later.type === 'answer') expect(later.usage.input).toBeLessThan(300)
  })

  test('compacts on demand, and its block is taken back byte for byte', async () => {
    const betas = ['compact-2026-09-04']
    const asked = await clientOf().send({
      ...hello,
      source: 'compact',
      betas,
      options: { compaction: { type: 'summarize' } },
    })
    if (asked.type === 'failed') throw new Error(asked.message)
    expect([asked.stopReason, asked.content.map(({ type }) => type)]).toEqual(['compaction', ['compaction']])
    const messages = [{ role: 'assistant' as const, content: asked.content }, ...hello.messages]
    expect(await clientOf().send({ ...hello, betas, messages })).toMatchObject({
      type: 'answer',
      stopReason: 'end_turn',
    })
    const changed = asked.content.map((block) => ({ ...block, content: 'Something else.' }))
    const refused = await clientOf().send({
      ...hello,
      betas,
      messages: [{ role: 'assistant', content: changed }, ...hello.messages],
    })
    const code = 'compaction_content_mismatch'
    expect(refused).toMatchObject({ type: 'failed', reason: 'invalid', status: 400, code, tries: 1 })
  })

  test('passes what the server cleared, and what it made of thinking and of the cache', async () => {
    const results = Array.from({ length: 4 }, (_, index) => [
      { role: 'assistant' as const, content: [{ type: 'tool_use', id: `t${index}`, name: 'read_file', input: {} }] },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'word '.repeat(300) }],
      },
    ]).flat()
    const edit = {
      type: 'clear_tool_uses_20250919',
      trigger: { type: 'input_tokens', value: 500 },
      keep: { type: 'tool_uses', value: 1 },
    }
    const answer = await clientOf().send({
      ...hello,
      tools: [tool],
      betas: ['context-management-2025-06-27', 'cache-diagnosis-2026-04-07', 'thinking-binding-controls-2026-08-01'],
      messages: [...hello.messages, ...results],
      thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      options: { context_management: { edits: [edit] }, diagnostics: { previous_message_id: 'msg_nobody' } },
    })
    if (answer.type === 'failed') throw new Error(answer.message)
    expect(answer.extra).toMatchObject({
      context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 3 }] },
      input_transformations: [],
      diagnostics: { cache_miss_reason: { type: 'previous_message_not_found' } },
    })
  })

  test('puts on the wire what the request says, betas as a header, and nothing else', async () => {
    const seen: unknown[] = []
    const fetch: AnthropicOptions['fetch'] = (input, init) => {
      const headers = new Headers(init?.headers)
      seen.push([
        String(input).replace(server.url, ''),
        headers.get('anthropic-beta'),
        headers.get('x-mine'),
        init?.body,
      ])
      return globalThis.fetch(input, init)
    }
    const client = clientOf({ fetch, headers: { 'x-mine': 'yes' } })
    await client.send({ ...hello, betas: ['one', 'two', 'one'], options: { metadata: { user_id: 'u' } } })
    const prompt = '{"model":"claude-sonnet-5","messages":[{"role":"user","content":"Hello"}]'
    const rest = '"max_tokens":200,"metadata":{"user_id":"u"},"stream":true}'
    expect(seen).toEqual([['/v1/messages', 'one,two', 'yes', `${prompt},${rest}`]])
  })

  test('a request with one message more begins with the same bytes, and reads all of them from the cache', async () => {
    const bodies: string[] = []
    const fetch: AnthropicOptions['fetch'] = (input, init) => {
      bodies.push(String(init?.body))
      return globalThis.fetch(input, init)
    }
    const { maxTokens: _, ...turn } = {
      ...hello,
      tools: [tool],
      system: 'You read files. '.repeat(500),
      options: { cache_control: { type: 'ephemeral' } },
    }
    const client = clientOf({ fetch })
    const first = await client.send(turn)
    const asking = [...turn.messages, { role: 'user' as const, content: 'Summarize.' }]
    const second = await client.send({ ...turn, source: 'compact', messages: asking })
    if (first.type === 'failed' || second.type === 'failed') throw new Error('no answer')
    const [before = '', after = ''] = bodies.map((body) => body.slice(0, body.indexOf('],"max_tokens"')))
    expect([after.startsWith(before), before.length > 8_000]).toEqual([true, true])
    expect([first.usage.cacheRead, second.usage.cacheRead]).toEqual([0, first.usage.cacheWrite])
  })

  test('knows models from the catalog, better once it has asked, and asks once', async () => {
    const asked: string[] = []
    const fetch: AnthropicOptions['fetch'] = (input, init) => {
      asked.push(String(input))
      return globalThis.fetch(input, init)
    }
    const client = clientOf({ fetch })
    const known = { maxOutput: 64_000, cacheEdits: false, contextManagement: true, promptCache: true, offline: false }
    expect(client.capabilities('claude-haiku-4-5')).toEqual({ ...known, window: 200_000, compaction: 'none' })
    const described = {
      type: 'described',
      model: 'claude-haiku-4-5',
      capabilities: { ...known, window: 500, compaction: 'none' },
    }
    expect(await client.describe?.('claude-haiku-4-5')).toEqual(described)
    expect(await client.describe?.('claude-haiku-4-5')).toEqual(described)
    expect([client.capabilities('claude-haiku-4-5'), asked.length]).toEqual([described.capabilities, 1])
    expect(client.capabilities('').compaction).toBe('on-demand')
    expect((await client.describe?.('claude-haiku-5-5'))?.type).toBe('described')
    expect(client.capabilities('claude-haiku-5-5').compaction).toBe('by-threshold')
    expect(await client.describe?.('claude-nowhere')).toMatchObject({ type: 'failed', reason: 'refused', status: 404 })
    expect(client.capabilities('claude-nowhere')).toMatchObject({ contextManagement: false, compaction: 'none' })
    expect(clientOf({ capabilities: { cacheEdits: true } }).capabilities('').cacheEdits).toBe(true)
  })

  test('works with a client of the SDK that somebody else has made, also when it fails', async () => {
    const sdk = new Anthropic({ apiKey: 'key', baseURL: server.url, maxRetries: 5 })
    const client = anthropic({ model: 'claude-sonnet-5', client: sdk, ports: stillPorts() })
    expect([client.endpoint, await client.send(hello)]).toMatchObject([server.url, { type: 'answer' }])
    expect(await client.send(long)).toMatchObject({
      reason: 'overflow',
      overflow: { actual: 605, limit: 500 },
      tries: 1,
    })
    const broken = anthropic({
      model: 'claude-sonnet-5',
      client: sdk,
      ports: stillPorts(),
      headers: { 'x-everlong-fault': 'overloaded' },
    })
    expect(await broken.send(hello)).toMatchObject({ reason: 'transient', status: 529, tries: 3 })
  })
})
