// The AI SDK with its Anthropic provider, unchanged, over real HTTP on this machine.
import { createAnthropic } from '@ai-sdk/anthropic'
import { APICallError, generateText, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'

const script = callsOnce([
  { type: 'thinking', thinking: 'Read it.' },
  { type: 'tool_use', name: 'read', input: { path: 'a.ts' } },
])

let server: RunningServer
let anthropic: ReturnType<typeof createAnthropic>

beforeAll(async () => {
  server = await startServer({ script, windows: { 'claude-haiku-4-5': 500 } })
  anthropic = createAnthropic({ apiKey: 'key', baseURL: `${server.url}/v1` })
})
afterAll(() => server.close())

const read = tool({
  description: 'Reads',
  inputSchema: z.object({ path: z.string() }),
  execute: async () => 'export {}',
})

describe('the AI SDK', () => {
  test('generates text', async () => {
    const made = await generateText({ model: anthropic('claude-sonnet-5'), prompt: 'Hello', maxRetries: 0 })
    expect([made.text, made.finishReason]).toEqual([expect.stringContaining('🎈'), 'stop'])
  })

  test('streams text', async () => {
    const streamed = streamText({ model: anthropic('claude-sonnet-5'), prompt: 'Hello', maxRetries: 0 })
    let text = ''
    for await (const part of streamed.textStream) text += part
    expect(text).toContain('🎈 in it, long enough')
    expect((await streamed.usage).outputTokens).toBeGreaterThan(10)
  })

  test('runs a loop of tools with thinking sent back', async () => {
    const made = await generateText({
      model: anthropic('claude-fable-5-1'),
      prompt: 'Read a.ts',
      tools: { read },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    })
    expect(made.steps.map((step) => step.finishReason)).toEqual(['tool-calls', 'stop'])
    expect(server.simulator.log.entries.at(-1)?.shape).toBe('tools1 | u a(th1 t1) u(r1)')
  })

  test('asks for context management and is told what was done', async () => {
    const contextManagement = {
      edits: [{ type: 'compact_20260112' as const, trigger: { type: 'input_tokens' as const, value: 50_000 } }],
    }
    const made = await generateText({
      model: anthropic('claude-opus-5'),
      prompt: 'word '.repeat(60_000),
      providerOptions: { anthropic: { contextManagement } },
      maxRetries: 0,
    })
    expect(made.text).toContain('messages were summarized')
    expect(made.text).toContain('A plain answer')
    expect(server.simulator.log.entries.at(-1)?.samplings.map(({ type }) => type)).toEqual(['compaction', 'message'])
  })

  test('reads a marked prompt from the cache', async () => {
    const marked = {
      role: 'user' as const,
      content: [
        {
          type: 'text' as const,
          text: 'word '.repeat(1_500),
          providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        },
      ],
    }
    const ask = () => generateText({ model: anthropic('claude-opus-5'), messages: [marked], maxRetries: 0 })
    const [first, second] = [await ask(), await ask()]
    expect(first.usage.inputTokenDetails.cacheWriteTokens).toBeGreaterThan(1_500)
    expect(second.usage.inputTokenDetails.cacheReadTokens).toBe(first.usage.inputTokenDetails.cacheWriteTokens)
  })

  test('sees an overflow as an API error that it does not retry', async () => {
    const made = generateText({ model: anthropic('claude-haiku-4-5'), prompt: 'word '.repeat(600) })
    const error = await made.catch((thrown: unknown) => thrown)
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable, error.message]).toEqual([
      400,
      false,
      expect.stringMatching(/^prompt is too long: \d+ tokens > 500 maximum$/),
    ])
  })
})
