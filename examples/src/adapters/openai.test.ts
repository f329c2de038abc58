import { asksForSummary, route, startServer, summarizer, text } from '@everlong/simulator'
import type { EngineEvent } from 'everlong'
import { everlong, openai } from 'everlong/openai'
import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'

const model = 'gpt-5'
const window = 60_000
const rule = 'Never drop the table orders.'
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function world(told = window) {
  const script = route([{ when: asksForSummary, script: summarizer() }], () => text('Done.'))
  const server = await startServer({ script, windows: { [model]: window } })
  const events: EngineEvent[] = []
  const baseURL = `${server.url}/v1`
  const options = {
    model: openai({ model, apiKey: 'none', baseURL }),
    settings: { contextWindow: told },
    onEvent: (event: EngineEvent) => void events.push(event),
  }
  closing.push(server.close)
  return { server, events, options, client: new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 }) }
}

const step = (at: number) => `Step ${at}. ${rule} ${'More about it. '.repeat(400)}`

test.each([
  ['within the window it was told', window],
  ['after the API refused a prompt as too long', 1_000_000],
])('a loop on chat completions continues %s', async (_, told) => {
  const { client, options, events } = await world(told)
  const { chat, close } = everlong(options)
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'You are brief.' }]
  const sent: OpenAI.ChatCompletionMessageParam[][] = []
  for (let at = 1; at <= 60; at++) {
    messages.push({ role: 'user', content: step(at) })
    const completion = await chat(messages, { model }, (request) => {
      sent.push(request.messages)
      return client.chat.completions.create({ model, messages: request.messages })
    })
    messages.push(completion.choices[0]?.message ?? { role: 'assistant', content: '' })
  }
  await close()
  expect(messages).toHaveLength(121)
  expect(events.some(({ type }) => type === 'compaction-finished')).toBe(true)
  const last = sent.at(-1) ?? []
  expect(last[0]).toBe(messages[0])
  expect(last.at(-1)).toBe(messages.at(-2))
  expect(last.length).toBeLessThan(Math.max(...sent.map((request) => request.length)))
  expect(JSON.stringify(last)).toContain(rule)
})

test('a history of Responses items is reduced, and the items that are left are the very same', async () => {
  const { options } = await world()
  const { responses, close } = everlong(options)
  const input: OpenAI.Responses.ResponseInputItem[] = []
  let last: OpenAI.Responses.ResponseInputItem[] = []
  for (let at = 1; at <= 60; at++) {
    input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: step(at) }] })
    await responses(input, { model, instructions: 'You are brief.' }, async ({ messages }) => {
      last = messages
    })
    input.push({ type: 'reasoning', id: `rs_${at}`, summary: [], encrypted_content: 'secret' })
    input.push({ type: 'function_call', call_id: `call_${at}`, name: 'look', arguments: '{ "at": 1 }' })
    input.push({ type: 'function_call_output', call_id: `call_${at}`, output: 'Nothing.' })
  }
  await close()
  expect(last.length).toBeLessThan(input.length / 2)
  const kept = last.filter((item) => input.includes(item))
  expect(kept.length).toBeGreaterThan(2)
  expect(kept).toEqual(input.slice(input.indexOf(kept[0] as never), input.indexOf(kept[0] as never) + kept.length))
  expect(JSON.stringify(last)).toContain(rule)
})
