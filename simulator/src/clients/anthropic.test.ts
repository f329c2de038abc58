// The official Anthropic SDK, unchanged, over real HTTP on this machine.
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'

const tool = {
  name: 'read_file',
  description: 'Reads a file',
  input_schema: { type: 'object' as const, properties: { path: { type: 'string' } } },
}

const script = callsOnce([
  { type: 'thinking', thinking: 'A file must be read.' },
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', name: 'read_file', input: { path: 'src/main.ts', lines: [1, 2], deep: { é: '🎈' } } },
])

let server: RunningServer
let client: Anthropic

beforeAll(async () => {
  server = await startServer({ script, windows: { 'claude-haiku-4-5': 500 } })
  client = new Anthropic({ apiKey: 'key', baseURL: server.url, maxRetries: 0 })
})
afterAll(() => server.close())

const hello = { model: 'claude-sonnet-5', max_tokens: 200, messages: [{ role: 'user' as const, content: 'Hello' }] }

describe('the official Anthropic SDK', () => {
  test('creates a message', async () => {
    const message = await client.messages.create(hello)
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5',
      content: [{ type: 'text', text: 'A plain answer with 🎈 in it, long enough to come in several pieces.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    })
    expect(message._request_id).toMatch(/^req_/)
  })

  test('gets the same message from a stream', async () => {
    const streamed = await client.messages.stream(hello).finalMessage()
    const plain = await client.messages.create(hello)
    expect([streamed.content, streamed.stop_reason, streamed.usage]).toEqual([
      plain.content,
      plain.stop_reason,
      plain.usage,
    ])
  })

  test('goes through a tool call with thinking, streamed and sent back', async () => {
    const first = { ...hello, tools: [tool], thinking: { type: 'adaptive' as const } }
    const asked = await client.messages.stream(first).finalMessage()
    expect(asked.stop_reason).toBe('tool_use')
    const use = asked.content.find((block) => block.type === 'tool_use')
    expect(use?.input).toEqual({ path: 'src/main.ts', lines: [1, 2], deep: { é: '🎈' } })
    const result = { type: 'tool_result' as const, tool_use_id: use!.id, content: 'export {}' }
    const answered = await client.messages.create({
      ...first,
      messages: [...hello.messages, { role: 'assistant', content: asked.content }, { role: 'user', content: [result] }],
    })
    expect(answered.stop_reason).toBe('end_turn')
  })

  test('runs the tool loop of the SDK to its end', async () => {
    const ran: unknown[] = []
    const runner = client.beta.messages.toolRunner({
      ...hello,
      tools: [
        {
          ...tool,
          parse: (input: unknown) => input,
          run: async (input: unknown) => {
            ran.push(input)
            return 'export {}'
          },
        },
      ],
    })
    const last = await runner.runUntilDone()
    expect(ran).toEqual([{ path: 'src/main.ts', lines: [1, 2], deep: { é: '🎈' } }])
    expect(last.stop_reason).toBe('end_turn')
  })

  test('sees a compaction in a stream, and sends its block back', async () => {
    const betas = ['context-management-2025-06-27', 'compact-2026-01-12']
    const edits = [{ type: 'compact_20260112' as const, trigger: { type: 'input_tokens' as const, value: 50_000 } }]
    const messages = [{ role: 'user' as const, content: 'word '.repeat(60_000) }]
    const request = { ...hello, betas, messages, context_management: { edits } }
    const heard: string[] = []
    const stream = client.beta.messages.stream(request)
    stream.on('compaction', (summary) => heard.push(summary))
    const message = await stream.finalMessage()
    expect(message.content.map(({ type }) => type)).toEqual(['compaction', 'text'])
    expect(heard).toEqual([expect.stringContaining('messages were summarized')])
    expect(message.usage.iterations?.map(({ type }) => type)).toEqual(['compaction', 'message'])
    expect(message.context_management).toEqual({ applied_edits: [] })
    const next = [
      ...messages,
      { role: 'assistant' as const, content: message.content },
      { role: 'user' as const, content: 'Go on.' },
    ]
    const later = await client.beta.messages.create({ ...request, messages: next })
    expect(later.usage.input_tokens).toBeLessThan(300)
  })

  test('compacts on demand, and knows the code of what goes wrong', async () => {
    const betas = ['compact-2026-09-04']
    const summary = await client.beta.messages.create({ ...hello, betas, compaction: { type: 'summarize' } })
    expect(summary.stop_reason).toBe('compaction')
    const block = { role: 'assistant' as const, content: summary.content }
    const question = { role: 'user' as const, content: 'And now?' }
    const later = await client.beta.messages.create({ ...hello, betas, messages: [block, question] })
    expect(later.stop_reason).toBe('end_turn')
    const misplaced = client.beta.messages.create({ ...hello, betas, messages: [question, block, question] })
    await expect(misplaced).rejects.toMatchObject({ status: 400, errorCode: 'compaction_block_misplaced' })
  })

  test('counts tokens, as many as the message then reports', async () => {
    const { max_tokens: _, ...request } = { ...hello, tools: [tool], system: 'You read files.' }
    const counted = await client.messages.countTokens(request)
    const made = await client.messages.create({ ...request, max_tokens: 50 })
    expect(counted.input_tokens).toBe(made.usage.input_tokens)
  })

  test('lists models with their windows, and finds one', async () => {
    const ids: string[] = []
    for await (const model of client.models.list({ limit: 5 })) ids.push(model.id)
    expect(ids).toContain('claude-fable-5-1')
    const one = await client.models.retrieve('claude-haiku-4-5')
    expect([one.max_input_tokens, one.max_tokens, one.capabilities?.context_management.supported]).toEqual([
      500,
      64_000,
      true,
    ])
  })

  test('throws its typed errors', async () => {
    const broken = client.messages.create({ ...hello, messages: [{ role: 'assistant', content: 'Hi' }] })
    const error = await broken.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    const bad = error as InstanceType<typeof Anthropic.BadRequestError>
    expect([bad.status, bad.type, bad.apiMessage]).toEqual([
      400,
      'invalid_request_error',
      'messages: first message must use the "user" role',
    ])
    expect(bad.requestID).toMatch(/^req_/)
    const unknown = client.messages.create({ ...hello, model: 'claude-nowhere' })
    await expect(unknown).rejects.toBeInstanceOf(Anthropic.NotFoundError)
    const noKey = new Anthropic({ apiKey: '', baseURL: server.url, maxRetries: 0 })
    await expect(noKey.messages.create(hello)).rejects.toThrow()
  })

  test('meets a body of more than 32 MB as an error of status 413', async () => {
    const large = { ...hello, messages: [{ role: 'user' as const, content: 'word '.repeat(7_000_000) }] }
    const error = await client.messages.create(large).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.APIError)
    expect(error).toMatchObject({ status: 413, type: 'request_too_large' })
  })

  test('meets an overflow as an error, and inside a stream that had begun', async () => {
    const long = {
      ...hello,
      model: 'claude-haiku-4-5',
      messages: [{ role: 'user' as const, content: 'word '.repeat(600) }],
    }
    const error = await client.messages.create(long).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect(String(error)).toContain('prompt is too long: 605 tokens > 500 maximum')
    const headers = { 'x-everlong-overflow': 'stream' }
    const inside = client.messages.stream(long, { headers }).finalMessage()
    const late = await inside.catch((thrown: unknown) => thrown)
    expect(late).toBeInstanceOf(Anthropic.APIError)
    expect((late as InstanceType<typeof Anthropic.APIError>).status).toBeUndefined()
    expect(String(late)).toContain('prompt is too long')
  })
})
