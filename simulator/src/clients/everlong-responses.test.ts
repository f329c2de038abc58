// Everlong's own client on the Responses API, over real HTTP on this machine.
import type { ModelRequest, StreamEvent } from 'everlong'
import { type OpenAIOptions, openai } from 'everlong/openai'
import { runModelContract } from 'everlong/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'
import { stillPorts } from '../testing/still-ports.ts'

const script = callsOnce([
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', name: 'read', input: { path: 'é.ts' } },
])

let server: RunningServer
const paths: string[] = []
const bodies: string[] = []

beforeAll(async () => {
  server = await startServer({ script, windows: { 'gpt-tiny': 500 } })
})
afterAll(() => server.close())

const fetch: OpenAIOptions['fetch'] = (input, init) => {
  paths.push(new URL(String(input)).pathname)
  bodies.push(String(init?.body))
  return globalThis.fetch(input, init)
}
const clientOf = () =>
  openai({
    model: 'gpt-large',
    api: 'responses',
    apiKey: 'key',
    baseURL: `${server.url}/v1`,
    ports: stillPorts(),
    fetch,
  })

const hello: ModelRequest = { source: 'turn', model: 'gpt-large', messages: [{ role: 'user', content: 'Hello' }] }
const long = { ...hello, model: 'gpt-tiny', messages: [{ role: 'user' as const, content: 'word '.repeat(600) }] }
const tools = [{ name: 'read', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }]

test('keeps the contract of model clients, also for a prompt that is too long, and asks no other address', async () => {
  const failing = [{ request: long, reason: 'overflow' as const }]
  const { broken } = await runModelContract({ client: clientOf(), request: hello, failing, sent: () => bodies })
  expect(broken).toEqual([])
  expect(new Set(paths)).toEqual(new Set(['/v1/responses']))
})

test('streams an answer and tells it as it comes', async () => {
  const events: StreamEvent[] = []
  const answer = await clientOf().send({ ...hello, system: 'Be brief.' }, { onEvent: (event) => events.push(event) })
  const text = 'A plain answer with 🎈 in it, long enough to come in several pieces.'
  expect(answer).toMatchObject({
    type: 'answer',
    model: 'gpt-large',
    content: [{ type: 'text', text }],
    stopReason: 'end_turn',
  })
  if (answer.type === 'answer') expect(answer.usage.input).toBeGreaterThan(0)
  expect(events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('')).toBe(text)
  expect(JSON.parse(bodies.at(-1) ?? '')).toEqual({
    model: 'gpt-large',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
    instructions: 'Be brief.',
    store: false,
    stream: true,
  })
})

test('goes through tool calls as if it were the Messages API', async () => {
  const asked = await clientOf().send({ ...hello, tools })
  if (asked.type === 'failed') throw new Error(asked.message)
  expect(asked.stopReason).toBe('tool_use')
  const [said, call] = asked.content
  expect([said, call]).toMatchObject([
    { text: 'Reading.' },
    { type: 'tool_use', name: 'read', input: { path: 'é.ts' } },
  ])
  const result = { type: 'tool_result', tool_use_id: String(call?.id), content: [{ type: 'text', text: 'export {}' }] }
  const messages = [
    ...hello.messages,
    { role: 'assistant', content: asked.content },
    { role: 'user', content: [result] },
  ]
  expect(await clientOf().send({ ...hello, tools, messages } as ModelRequest)).toMatchObject({
    type: 'answer',
    stopReason: 'end_turn',
  })
})

test('an answer that the limit cut says so', async () => {
  expect(await clientOf().send({ ...hello, maxTokens: 16 })).toMatchObject({ type: 'answer', stopReason: 'max_tokens' })
})
