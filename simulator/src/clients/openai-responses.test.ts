// The Responses API of the official OpenAI SDK, unchanged, over real HTTP on this machine.
import OpenAI from 'openai'
import type { ResponseInput, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ScriptRequest } from '../script/script.ts'
import { type RunningServer, startServer } from '../server.ts'
import { callsOnce } from '../testing/ask.ts'

const callsTwice = callsOnce([
  { type: 'thinking', thinking: 'Two files, then.' },
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', name: 'read', input: { path: 'a.ts' } },
  { type: 'tool_use', name: 'read', input: { path: 'é.ts' } },
])

const requests: ScriptRequest[] = []
const lastAsked = () => requests.at(-1)!
let server: RunningServer
let client: OpenAI

beforeAll(async () => {
  server = await startServer({
    script: (request, context) => {
      requests.push(request)
      return callsTwice(request, context)
    },
    windows: { 'gpt-tiny': 500 },
  })
  client = new OpenAI({ apiKey: 'key', baseURL: `${server.url}/v1`, maxRetries: 0 })
})
afterAll(() => server.close())

const hello = { model: 'gpt-large', input: 'Hello', store: false }
const parameters = { type: 'object', properties: { path: { type: 'string' } } }
const read = { type: 'function' as const, name: 'read', parameters, strict: false }
const outputsOf = (items: readonly ResponseOutputItem[]) =>
  items
    .filter((item) => item.type === 'function_call')
    .map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'export {}' }))
const asInput = (items: readonly ResponseOutputItem[]) => items as readonly unknown[] as ResponseInputItem[]

describe('the Responses API', () => {
  test('creates a response', async () => {
    const made = await client.responses.create({ ...hello, instructions: 'Be brief.' })
    expect(made).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'gpt-large',
      output: [{ type: 'message', role: 'assistant', status: 'completed' }],
      output_text: expect.stringContaining('🎈'),
      usage: {
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: (made.usage?.input_tokens ?? 0) + (made.usage?.output_tokens ?? 0),
      },
    })
    expect(lastAsked()).toMatchObject({
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    })
  })

  test('streams the response that it would give whole', async () => {
    const asked = { ...hello, tools: [read], reasoning: { summary: 'auto' as const } }
    const events: { type: string; sequence_number: number }[] = []
    const stream = client.responses.stream(asked)
    for await (const event of stream) events.push(event)
    const streamed = await stream.finalResponse()
    const plain = await client.responses.create(asked)
    const said = ({ output, usage }: Pick<typeof plain, 'output' | 'usage'>) => [
      output.map((item) => {
        if (item.type === 'message') return item.content.map((part) => (part.type === 'output_text' ? part.text : part))
        if (item.type === 'reasoning') return item.summary
        return item.type === 'function_call' ? [item.name, item.arguments] : item
      }),
      { ...usage, input_tokens_details: undefined },
    ]
    expect(said(streamed)).toEqual(said(plain))
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect([...new Set(events.map(({ type }) => type))]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.completed',
    ])
  })

  test('goes through tool calls with the whole input each time, reasoning included', async () => {
    const first = await client.responses.create({ ...hello, tools: [read] })
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call'])
    const input: ResponseInput = [
      { role: 'developer', content: 'Follow the rules.' },
      { role: 'user', content: 'Hello' },
      ...asInput(first.output),
      ...outputsOf(first.output),
    ]
    const second = await client.responses.create({ ...hello, tools: [read], input })
    expect(second.output_text).toContain('A plain answer')
    expect(lastAsked()).toMatchObject({
      system: 'Follow the rules.',
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Two files, then.' },
            { type: 'text', text: 'Reading.' },
            { type: 'tool_use', name: 'read', input: { path: 'a.ts' } },
            { type: 'tool_use', name: 'read', input: { path: 'é.ts' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result' }, { type: 'tool_result' }] },
      ],
    })
  })

  test('a response is stored unless the request says otherwise', async () => {
    const first = await client.responses.create({ model: 'gpt-large', input: 'Hello', tools: [read] })
    const next = { model: 'gpt-large', tools: [read], previous_response_id: first.id, input: outputsOf(first.output) }
    expect(await client.responses.create(next)).toMatchObject({ previous_response_id: first.id })
  })

  test('continues from a stored response, and only from a stored one', async () => {
    const first = await client.responses.create({ ...hello, store: true, tools: [read] })
    const next = { model: 'gpt-large', tools: [read], previous_response_id: first.id, input: outputsOf(first.output) }
    const second = await client.responses.create({ ...next, store: false })
    expect(second).toMatchObject({ previous_response_id: first.id, output_text: expect.stringContaining('plain') })
    expect(lastAsked().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    const third = client.responses.create({ ...hello, previous_response_id: second.id })
    await expect(third).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
  })

  test('custom tools take plain text, and namespaces hold functions of their own', async () => {
    const tools = [
      { type: 'custom' as const, name: 'read', description: 'Reads.' },
      { type: 'namespace' as const, name: 'mcp__files__', description: 'Files.', tools: [{ ...read, name: 'list' }] },
    ]
    const made = await client.responses.create({ ...hello, tools })
    expect(lastAsked().tools.map(({ name }) => name)).toEqual(['read', 'mcp__files__list'])
    expect(made.output.at(-1)).toMatchObject({ type: 'custom_tool_call', name: 'read', input: '{"path":"é.ts"}' })
  })

  test('reads long prefixes from the cache', async () => {
    const long = { ...hello, instructions: 'word '.repeat(2_000) }
    const [first, second] = [await client.responses.create(long), await client.responses.create(long)]
    expect(first.usage?.input_tokens_details.cached_tokens).toBe(0)
    expect(second.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(1_900)
  })

  test('is incomplete at its limit', async () => {
    const made = await client.responses.create({ ...hello, max_output_tokens: 3 })
    expect(made).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    expect(made.usage?.output_tokens).toBe(3)
  })

  test('compacts a conversation into the words of the user and a sealed summary that it can read', async () => {
    const input: ResponseInput = [
      { role: 'user', content: 'Read the file a.ts.' },
      { role: 'assistant', content: 'It is empty.' },
    ]
    const compacted = await client.responses.compact({ model: 'gpt-large', input })
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      output: [{ role: 'user', content: 'Read the file a.ts.' }, { type: 'compaction' }],
    })
    expect(JSON.stringify(compacted.output)).not.toContain('It is empty')
    await client.responses.create({ ...hello, input: [...asInput(compacted.output), { role: 'user', content: 'On.' }] })
    expect(JSON.stringify(lastAsked().messages)).toContain('Last said: It is empty.')
  })

  test('answers a compaction trigger with a sealed summary of what comes before it', async () => {
    const input: ResponseInput = [
      { role: 'user', content: 'Read the file a.ts.' },
      { role: 'assistant', content: 'It is empty.' },
    ]
    const stream = client.responses.stream({ ...hello, input: [...input, { type: 'compaction_trigger' }] })
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    expect(types).toContain('response.compaction.compacting')
    const { output } = await stream.finalResponse()
    expect(output.map(({ type }) => type)).toEqual(['compaction'])
    await client.responses.create({ ...hello, input: [...asInput(output), { role: 'user', content: 'On.' }] })
    expect(JSON.stringify(lastAsked().messages)).toContain('Last said: It is empty.')
  })
})

describe('what the Responses API refuses', () => {
  const long = { model: 'gpt-tiny', input: 'word '.repeat(600), store: false }
  const overflow = { code: 'context_length_exceeded', message: expect.stringContaining('exceeds the context window') }

  test('a prompt over the window, in the answer or inside the stream', async () => {
    const plain = await client.responses.create(long).catch((thrown: unknown) => thrown)
    expect(plain).toBeInstanceOf(OpenAI.BadRequestError)
    expect(plain).toMatchObject({ status: 400, param: 'input', ...overflow })
    const types: string[] = []
    const streaming = (async () => {
      for await (const event of await client.responses.create({ ...long, stream: true })) types.push(event.type)
    })()
    await expect(streaming).rejects.toMatchObject(overflow)
    expect(types).toEqual(['response.created', 'response.in_progress'])
  })

  test.each<[string, ResponseInput, RegExp]>([
    ['an output without its call', [{ type: 'function_call_output', call_id: 'c1', output: '' }], /No tool call found/],
    [
      'a call without its output',
      [{ type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' }],
      /No tool output found for function call c1/,
    ],
    [
      'reasoning that nothing follows',
      [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }],
      /without its required following item/,
    ],
    [
      'reasoning that another API sealed',
      [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
        { role: 'assistant', content: 'Yes.' },
      ],
      /could not be verified/,
    ],
    [
      'reasoning that nobody kept',
      [
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { role: 'assistant', content: 'Yes.' },
      ],
      /Items are not persisted/,
    ],
    ['a role that does not exist', [{ role: 'tool' as 'user', content: 'x' }], /Invalid value: 'tool'/],
  ])('%s', async (_, input, message) => {
    await expect(client.responses.create({ ...hello, input })).rejects.toThrow(message)
  })

  test('an item whose reasoning was dropped', async () => {
    const { output } = await client.responses.create({ ...hello, tools: [read] })
    const input = [...asInput(output.filter(({ type }) => type !== 'reasoning')), ...outputsOf(output)]
    await expect(client.responses.create({ ...hello, input })).rejects.toThrow(/without its required 'reasoning' item/)
  })

  test('a request without a model, an input or a key', async () => {
    await expect(client.responses.create({ input: 'x' })).rejects.toThrow(/Missing required parameter: 'model'/)
    await expect(client.responses.create({ model: 'gpt-large' })).rejects.toThrow(/'input'/)
    const nobody = new OpenAI({ apiKey: ' ', baseURL: `${server.url}/v1`, maxRetries: 0 })
    await expect(nobody.responses.create(hello)).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })
})
