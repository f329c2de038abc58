// Servers that are not quite what they say: answers of theirs that no simulator gives, over real HTTP on this machine.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelClient, ModelRequest } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { openai } from 'everlong/openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { stillPorts } from '../testing/still-ports.ts'

type Told = { readonly status?: number; readonly type?: string; readonly body: string }

let told: readonly Told[] = []
let asked: string[] = []

const server: Server = createServer((incoming, outgoing) => {
  const {
    status = 200,
    type = 'application/json',
    body,
  } = told[Math.min(asked.length, told.length - 1)] ?? { body: '' }
  asked.push(`${incoming.method} ${incoming.url}`)
  incoming.resume()
  incoming.on('end', () => outgoing.writeHead(status, { 'content-type': type }).end(body))
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => server.close())
beforeEach(() => {
  asked = []
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const chat = (): ModelClient => openai({ model: 'm', baseURL: `${url()}/v1`, ports: stillPorts() })
const messages = (): ModelClient => anthropic({ model: 'm', apiKey: 'k', baseURL: url(), ports: stillPorts() })

const hello: ModelRequest = { source: 'turn', model: '', messages: [{ role: 'user', content: 'Hello' }] }
const stream = (...data: readonly unknown[]): Told => ({
  type: 'text/event-stream',
  body: data.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join(''),
})

describe('an OpenAI-compatible server', () => {
  test('tells an overflow inside a stream (LiteLLM PR 22624, OpenRouter)', async () => {
    const message =
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output)."
    told = [stream({ id: 'x', choices: [{ delta: { role: 'assistant' } }] }, { error: { code: 400, message } })]
    const overflow = { actual: 7_884, limit: 131_072, maxTokens: 131_072 }
    expect(await chat().send(hello)).toEqual({ type: 'failed', reason: 'overflow', message, overflow, tries: 1 })
  })

  test('tells a rate limit inside a stream, and it is sent again', async () => {
    const finished = { id: 'x', model: 'm', choices: [{ delta: { content: 'Yes.' }, finish_reason: 'stop' }] }
    told = [stream({ error: { code: 429, message: 'Provider returned error' } }), stream(finished, '[DONE]')]
    expect(await chat().send(hello)).toMatchObject({ type: 'answer', content: [{ type: 'text', text: 'Yes.' }] })
    expect(asked.length).toBe(2)
  })

  test('answers 200 with an error and no stream (LM Studio)', async () => {
    const message =
      'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).'
    told = [{ body: JSON.stringify({ error: message }, null, 2) }]
    const overflow = { actual: 13_055, limit: 4_096 }
    expect(await chat().send(hello)).toEqual({ type: 'failed', reason: 'overflow', message, overflow, tries: 1 })
  })

  test('answers with the whole completion though a stream was asked for', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'read', arguments: '{"a":1}' } }
    const message = { role: 'assistant', content: 'I\nread.', tool_calls: [call] }
    const usage = { prompt_tokens: 7, completion_tokens: 2 }
    told = [
      {
        body: JSON.stringify(
          { id: 'x', model: 'm', choices: [{ message, finish_reason: 'tool_calls' }], usage },
          null,
          2,
        ),
      },
    ]
    expect(await chat().send(hello)).toMatchObject({
      content: [
        { type: 'text', text: 'I\nread.' },
        { type: 'tool_use', id: 'c', name: 'read', input: { a: 1 } },
      ],
      stopReason: 'tool_use',
      usage: { input: 7, output: 2 },
    })
  })

  test('refuses with a body that has no "error" in it (Mistral): the words are not lost', async () => {
    const message = 'Prompt contains 140000 tokens, too large for model with 131072 maximum context length'
    told = [{ status: 400, body: JSON.stringify({ object: 'error', message }) }]
    const overflow = { actual: 140_000, limit: 131_072 }
    expect(await chat().send(hello)).toEqual({
      type: 'failed',
      reason: 'overflow',
      status: 400,
      message,
      overflow,
      tries: 1,
    })
  })

  test('sends what is no JSON, and says so after three tries', async () => {
    told = [stream('{"id": oops')]
    expect(await chat().send(hello)).toMatchObject({ type: 'failed', reason: 'transient', tries: 3 })
  })

  const listings: readonly (readonly [string, object, object])[] = [
    ['vLLM', { max_model_len: 32_768 }, { window: 32_768 }],
    [
      'OpenRouter',
      { context_length: 131_072, top_provider: { max_completion_tokens: 8_192 } },
      { window: 131_072, maxOutput: 8_192 },
    ],
    ['Groq', { context_window: 8_192, max_completion_tokens: 4_096 }, { window: 8_192, maxOutput: 4_096 }],
    ['LiteLLM', { max_input_tokens: 200_000, max_output_tokens: 64_000 }, { window: 200_000, maxOutput: 64_000 }],
    ['llama.cpp', { meta: { n_ctx: 4_096, n_ctx_train: 131_072 } }, { window: 4_096 }],
    ['OpenAI', {}, {}],
  ]
  test.each(listings)('says the window of a model in its own way: %s', async (_, info, limits) => {
    told = [{ body: JSON.stringify({ object: 'list', data: [{ id: 'other' }, { id: 'a/m', ...info }] }) }]
    const client = chat()
    const rest = { cacheEdits: false, contextManagement: false, compaction: 'none', promptCache: true, offline: false }
    const described = { type: 'described', model: 'a/m', capabilities: { ...rest, ...limits } }
    expect([await client.describe?.('a/m'), await client.describe?.('a/m')]).toEqual([described, described])
    expect([client.capabilities('a/m'), asked]).toEqual([described.capabilities, ['GET /v1/models']])
    expect(await client.describe?.('nobody')).toMatchObject({ type: 'failed', reason: 'refused' })
  })
})

describe('a server of the Messages API', () => {
  test('answers with the whole message though a stream was asked for', async () => {
    const content = [
      { type: 'text', text: 'Yes.' },
      { type: 'tool_use', id: 't', name: 'read', input: { a: 1 } },
    ]
    const usage = { input_tokens: 7, output_tokens: 2 }
    told = [
      {
        body: JSON.stringify({
          type: 'message',
          id: 'x',
          model: 'm',
          role: 'assistant',
          content,
          stop_reason: 'tool_use',
          usage,
        }),
      },
    ]
    expect(await messages().send(hello)).toMatchObject({
      content,
      stopReason: 'tool_use',
      usage: { input: 7, output: 2 },
    })
  })

  test('answers 200 with an error and no stream', async () => {
    const message = 'prompt is too long: 7 tokens > 5 maximum'
    told = [{ body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }) }]
    const overflow = { actual: 7, limit: 5 }
    expect(await messages().send(hello)).toEqual({ type: 'failed', reason: 'overflow', message, overflow, tries: 1 })
  })

  test('is a web page', async () => {
    told = [{ status: 502, type: 'text/html', body: '<html><body>Bad Gateway</body></html>' }]
    expect(await messages().send(hello)).toMatchObject({ type: 'failed', reason: 'transient', status: 502, tries: 3 })
    told = [{ status: 200, type: 'text/html', body: '<html><body>Sign in</body></html>' }]
    expect(await messages().send(hello)).toMatchObject({ type: 'failed', reason: 'transient', tries: 3 })
  })

  test('knows a model and nothing about it', async () => {
    told = [{ body: JSON.stringify({ id: 'm', type: 'model' }) }]
    expect(await messages().describe?.('m')).toMatchObject({ type: 'described', capabilities: { compaction: 'none' } })
  })
})
