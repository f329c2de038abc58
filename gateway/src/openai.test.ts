// The official client of OpenAI through the gateway: chat completions and the Responses API, plain and streamed.
import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'
import { type Setup, setUp, spoken } from './testing/setup.ts'

let setup: Setup | undefined
afterEach(async () => setup?.close())

async function started() {
  setup = await setUp()
  const client = new OpenAI({ apiKey: 'any', baseURL: `${setup.url}/v1` })
  return { ...setup, client }
}

test('chat completions, found again by what was said', async () => {
  const { client, sessions } = await started()
  const model = 'gpt-5'
  const system = { role: 'system' as const, content: 'Be brief.' }
  const first = await client.chat.completions.create({ model, messages: [system, { role: 'user', content: 'Hello.' }] })
  const history = [system, { role: 'user' as const, content: 'Hello.' }, first.choices[0]!.message]
  const stream = await client.chat.completions.create({
    ...{ model, stream: true as const, stream_options: { include_usage: true } },
    messages: [...history, { role: 'user', content: 'Go on.' }],
  })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe('Answer 2.')
  const all = [...(await sessions()).values()]
  expect(all.map(spoken)).toEqual([['user: Hello.', 'assistant: Answer 1.', 'user: Go on.', 'assistant: Answer 2.']])
  expect(all[0]?.[3]).toMatchObject({
    message: { usage: { output_tokens: expect.any(Number) } },
    everlong: { gateway: { api: 'chat' } },
  })
})

test('the Responses API, named by the key of its cache', async () => {
  const { client, sessions } = await started()
  const model = 'gpt-5'
  const shared = { model, store: false, prompt_cache_key: 'thread-7', instructions: 'Be brief.' }
  const first = await client.responses.create({ ...shared, input: 'Hello.' })
  const history = [
    { role: 'user' as const, content: 'Hello.' },
    ...first.output,
    { role: 'user' as const, content: 'Go on.' },
  ]
  const stream = await client.responses.create({ ...shared, stream: true, input: history as never })
  for await (const event of stream)
    if (event.type === 'response.completed') expect(event.response.output_text ?? 'Answer 2.').toBe('Answer 2.')
  const all = await sessions()
  expect([...all.keys()]).toEqual(['thread-7'])
  expect(spoken(all.get('thread-7'))).toEqual([
    'user: Hello.',
    'assistant: Answer 1.',
    'user: Go on.',
    'assistant: Answer 2.',
  ])
})

test('a conversation that the server holds passes, and is not kept in pieces', async () => {
  const { client, sessions } = await started()
  const first = await client.responses.create({ model: 'gpt-5', input: 'Hello.', store: true })
  await client.responses.create({ model: 'gpt-5', input: 'Go on.', previous_response_id: first.id })
  expect([...(await sessions()).values()].map(spoken)).toEqual([['user: Hello.', 'assistant: Answer 1.']])
})

test('errors of the upstream reach the client as they are', async () => {
  const { client, server } = await started()
  const direct = new OpenAI({ apiKey: 'any', baseURL: `${server.url}/v1`, maxRetries: 0 })
  const wrong = { model: 'gpt-5', messages: [] }
  const failure = (from: OpenAI) =>
    from.chat.completions.create(wrong).then(undefined, (error) => [error.status, error.error])
  expect(await failure(client)).toEqual(await failure(direct))
})
