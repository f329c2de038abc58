// The AI SDK with its Anthropic provider through the gateway, streaming and not.
import { createAnthropic } from '@ai-sdk/anthropic'
import { combine, type Script, type ScriptRequest, summarizer, text, toolUse } from '@everlong/simulator'
import { generateText, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import { blocksOf, isToolResult, type JsonObject, textOf } from 'everlong/internal'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Level } from './config/schema.ts'
import { type Setup, setUp } from './testing/setup.ts'

let setup: Setup | undefined
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

const model = 'claude-sonnet-4-6'
const turns = 18

function script(requests: ScriptRequest[]): Script {
  const summary = summarizer()
  return (request, context) => {
    requests.push(request)
    const last = blocksOf(request.messages.at(-1)?.content)
    if (textOf(last).includes('Somebody who has never seen')) return summary(request, context)
    if (last.some(isToolResult)) return text('That is done.')
    return combine(text('I look.'), toolUse('read', { part: 1 }))
  }
}

async function started(level: Level) {
  const requests: ScriptRequest[] = []
  const simulator = { windows: { [model]: 20_000 } }
  setup = await setUp({ script: script(requests), config: { level }, simulator })
  return { ...setup, requests }
}

/** An agent whose history only grows. */
function agent(url: string, streams: boolean) {
  const headers = { 'x-everlong-session': 'ai-sdk' }
  const provider = createAnthropic({ apiKey: 'any', baseURL: `${url}/v1`, headers })
  const messages: ModelMessage[] = []
  const read = tool({
    description: 'Reads a part.',
    inputSchema: z.object({ part: z.number() }),
    execute: async ({ part }) =>
      Array.from({ length: 150 }, (_, line) => `${part}.${line} as expected here`).join('\n'),
  })
  return async (words: string): Promise<string> => {
    messages.push({ role: 'user', content: words })
    const call = { model: provider(model), tools: { read }, stopWhen: stepCountIs(4), messages, maxRetries: 0 }
    if (!streams) {
      const result = await generateText(call)
      messages.push(...result.responseMessages)
      return result.text
    }
    const failures: unknown[] = []
    const result = streamText({ ...call, onError: ({ error }) => void failures.push(error) })
    await result.consumeStream()
    if (failures.length > 0) throw failures[0]
    messages.push(...(await result.responseMessages))
    return result.text
  }
}

const typesOf = (records: readonly JsonObject[] | undefined) => records?.map(({ type }) => type)

describe.each([
  ['streaming', true],
  ['without streaming', false],
])('the AI SDK, %s', (_, streams) => {
  test('level 1: its steps with tools become one transcript, and nothing is changed', async () => {
    const { url, server, requests, sessions } = await started('observe')
    const say = agent(url, streams)
    expect([await say('Look.'), await say('Look again.')]).toEqual(['That is done.', 'That is done.'])
    const found = await sessions()
    expect([...found.keys()]).toEqual(['ai-sdk'])
    expect(typesOf(found.get('ai-sdk'))).toEqual(Array.from({ length: 8 }, (_, at) => (at % 2 ? 'assistant' : 'user')))
    const through = requests.splice(0).map(({ messages }) => messages.length)
    const direct = agent(server.url, streams)
    await direct('Look.')
    await direct('Look again.')
    expect(requests.map(({ messages }) => messages.length)).toEqual(through)
  })

  test('level 3: it continues where it alone would have died, and the transcript has everything', async () => {
    const { url, server, sessions } = await started('manage')
    const alone = agent(server.url, streams)
    await expect(
      (async () => {
        for (let at = 0; at < turns; at++) await alone(`Step ${at}.`)
      })(),
    ).rejects.toThrow(/too long/)
    const say = agent(url, streams)
    for (let at = 0; at < turns; at++) expect(await say(`Step ${at}.`)).toBe('That is done.')
    expect((await sessions()).get('ai-sdk')).toHaveLength(4 * turns)
  })
})
