// The official OpenAI SDK, unchanged, over real HTTP on this machine.
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'

const script = callsOnce([
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', name: 'read', input: { path: 'a.ts' } },
  { type: 'tool_use', name: 'read', input: { path: 'é.ts' } },
])

let server: RunningServer
let client: OpenAI

beforeAll(async () => {
  server = await startServer({ script, windows: { 'gpt-tiny': 500 } })
  client = new OpenAI({ apiKey: 'key', baseURL: `${server.url}/v1`, maxRetries: 0 })
})
afterAll(() => server.close())

const hello = { model: 'gpt-large', messages: [{ role: 'user' as const, content: 'Hello' }] }
const tools = [
  {
    type: 'function' as const,
    function: { name: 'read', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
  },
]

test('models of OpenAI have their prices, and an unknown version has none', async () => {
  const { meter } = server.simulator
  const spentOn = async (model: string) => {
    meter.reset()
    await client.chat.completions.create({ ...hello, model })
    const { input, output, cost, unpriced } = meter.totals()
    return { input: input > 0, inDollars: cost === (input * 1.25 + output * 10) / 1_000_000, cost: cost > 0, unpriced }
  }
  expect(await spentOn('gpt-5-2025-08-07')).toEqual({ input: true, inDollars: true, cost: true, unpriced: 0 })
  expect(await spentOn('gpt-5-mini')).toEqual({ input: true, inDollars: false, cost: true, unpriced: 0 })
  expect(await spentOn('gpt-5.9')).toEqual({ input: true, inDollars: false, cost: false, unpriced: 1 })
})

describe('the official OpenAI SDK', () => {
  test('creates a completion', async () => {
    const made = await client.chat.completions.create(hello)
    expect(made).toMatchObject({
      object: 'chat.completion',
      model: 'gpt-large',
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: expect.stringContaining('🎈') } },
      ],
      usage: { prompt_tokens: 5, total_tokens: 5 + (made.usage?.completion_tokens ?? 0) },
    })
  })

  test('streams a completion with its usage', async () => {
    const stream = await client.chat.completions.create({
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: unknown
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    const plain = await client.chat.completions.create(hello)
    expect([text, usage]).toEqual([plain.choices[0]?.message.content, plain.usage])
  })

  test('goes through tool calls, plain and streamed', async () => {
    const made = await client.chat.completions.create({ ...hello, tools })
    const message = made.choices[0]!.message
    expect(made.choices[0]?.finish_reason).toBe('tool_calls')
    const streamed = await client.chat.completions.stream({ ...hello, tools }).finalChatCompletion()
    const calls = (list: typeof message.tool_calls) =>
      list?.map((call) => (call.type === 'function' ? [call.function.name, call.function.arguments] : []))
    expect(calls(streamed.choices[0]?.message.tool_calls)).toEqual(calls(message.tool_calls))
    expect(calls(message.tool_calls)).toEqual([
      ['read', '{"path":"a.ts"}'],
      ['read', '{"path":"é.ts"}'],
    ])
    const results = message.tool_calls!.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'export {}',
    }))
    const answered = await client.chat.completions.create({
      ...hello,
      tools,
      messages: [...hello.messages, message, ...results],
    })
    expect(answered.choices[0]?.finish_reason).toBe('stop')
  })

  test('reads long prefixes from the cache, in steps of 128', async () => {
    const long = {
      ...hello,
      messages: [{ role: 'system' as const, content: 'word '.repeat(2_000) }, ...hello.messages],
    }
    const first = await client.chat.completions.create(long)
    const second = await client.chat.completions.create(long)
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0)
    const cached = second.usage?.prompt_tokens_details?.cached_tokens ?? 0
    expect([cached % 128, cached > 1_900, second.usage?.prompt_tokens]).toEqual([0, true, first.usage?.prompt_tokens])
  })

  test('throws its typed errors', async () => {
    const long = { model: 'gpt-tiny', messages: [{ role: 'user' as const, content: 'word '.repeat(600) }] }
    const overflow = await client.chat.completions.create(long).catch((thrown: unknown) => thrown)
    expect(overflow).toBeInstanceOf(OpenAI.BadRequestError)
    expect(overflow).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      message: expect.stringContaining(
        "This model's maximum context length is 500 tokens. However, your messages resulted in 605 tokens.",
      ),
    })
    const unanswered = {
      role: 'assistant' as const,
      tool_calls: [{ id: 'c1', type: 'function' as const, function: { name: 'read', arguments: '{}' } }],
    }
    const broken = client.chat.completions.create({ ...hello, messages: [unanswered, ...hello.messages] })
    await expect(broken).rejects.toThrow(/The following tool_call_ids did not have response messages: c1/)
    const stray = client.chat.completions.create({
      ...hello,
      messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }],
    })
    await expect(stray).rejects.toThrow(/must be a response to a preceeding message/)
    await expect(client.chat.completions.create({ ...hello, messages: [] })).rejects.toThrow(/empty array/)
    const nobody = new OpenAI({ apiKey: ' ', baseURL: `${server.url}/v1`, maxRetries: 0 })
    await expect(nobody.chat.completions.create(hello)).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })

  test('is cut at its limit with the reason "length"', async () => {
    const made = await client.chat.completions.create({ ...hello, max_completion_tokens: 3 })
    expect([made.choices[0]?.finish_reason, made.usage?.completion_tokens]).toEqual(['length', 3])
  })
})
