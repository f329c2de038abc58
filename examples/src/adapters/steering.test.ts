// A message that steers a running generation must reach the model, also in a step before which the context is compacted.
import { createAnthropic } from '@ai-sdk/anthropic'
import { asksForSummary, route, startServer, summarizer, text, toolUse } from '@everlong/simulator'
import { experimental_createSteering, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import { everlong } from 'everlong/ai-sdk'
import { expect, test } from 'vitest'
import { z } from 'zod'

const name = 'claude-sonnet-4-6'
const old: readonly ModelMessage[] = Array.from({ length: 20 }, (_, at): readonly ModelMessage[] => [
  { role: 'user', content: `Question ${at}: ${'what does this module do? '.repeat(150)}` },
  { role: 'assistant', content: `Answer ${at}: ${'it keeps the books. '.repeat(150)}` },
]).flat()

test('a steering message is delivered although the step before it was compacted', async () => {
  const seen: string[] = []
  const script = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) => {
    seen.push(JSON.stringify(messages))
    return JSON.stringify(messages.at(-1)).includes('tool_result') ? text('Stopped.') : toolUse('look', {})
  })
  const server = await startServer({ script, windows: { [name]: 60_000 } })
  const compactions: string[] = []
  const { prepareStep, close } = everlong({
    settings: { contextWindow: 60_000, economy: 'claude-code' },
    onEvent: ({ type }) => {
      if (type === 'compaction-finished') compactions.push(type)
    },
  })
  const steering = experimental_createSteering()
  const outcomes: Promise<unknown>[] = []
  const look = tool({
    description: 'Looks.',
    inputSchema: z.object({}),
    execute: async () => {
      outcomes.push(Promise.resolve(steering.steer('Stop at the first error.')))
      return Array.from({ length: 800 }, (_, at) => `${at}: GET /orders/${at * 7} 200`).join('\n')
    },
  })
  const result = streamText({
    model: createAnthropic({ apiKey: 'none', baseURL: `${server.url}/v1` })(name),
    messages: [...old, { role: 'user', content: 'Look.' }],
    tools: { look },
    stopWhen: stepCountIs(4),
    prepareStep,
    experimental_steering: steering,
  })
  expect(await result.text).toBe('Stopped.')
  expect(await Promise.all(outcomes)).toMatchObject([{ type: 'delivered' }])
  expect(compactions.length).toBeGreaterThan(0)
  expect(seen.at(-1)).toContain('Stop at the first error.')
  await close()
  await server.close()
})
