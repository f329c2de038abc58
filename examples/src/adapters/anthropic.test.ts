import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { asksForSummary, type RunningServer, route, startServer, summarizer, text, toolUse } from '@everlong/simulator'
import type { EngineEvent } from 'everlong'
import { anthropic, everlong } from 'everlong/anthropic'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { windowOf, windowsIn } from './windows.ts'

const model = 'claude-sonnet-4-6'
const window = 60_000
const rule = 'Never restart the server.'
const tools: Anthropic.Tool[] = [{ name: 'read_log', description: 'Reads a log.', input_schema: { type: 'object' } }]
const log = (day: number) =>
  Array.from({ length: 400 }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')

/** Reads the log of each day that it is told, then reports that all is well. */
const watcher = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) =>
  JSON.stringify(messages.at(-1)).includes('tool_result') ? text('Nothing unusual.') : toolUse('read_log', {}),
)

type Sent = { readonly url: string; readonly body: Record<string, unknown> }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function world(options: Parameters<typeof everlong>[0] = {}) {
  const server: RunningServer = await startServer({ script: watcher, windows: { [model]: window } })
  closing.push(server.close)
  const sent: Sent[] = []
  const events: EngineEvent[] = []
  const seen: typeof fetch = (url, init) => {
    sent.push({ url: String(url), body: JSON.parse(String(init?.body ?? '{}')) })
    return fetch(url, init)
  }
  const onEvent = (event: EngineEvent) => void events.push(event)
  const { middleware: own, ...managed } = everlong({ settings: { contextWindow: window }, onEvent, ...options })
  const middleware = [own]
  closing.push(managed.close)
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, fetch: seen, maxRetries: 0, middleware })
  return { client, sent, events, server, managed }
}

type Ask = (client: Anthropic, messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>
const params = { model, max_tokens: 1_000, tools, system: 'You watch over a server.' }
const whole: Ask = (client, messages) => client.messages.create({ ...params, messages })
const streamed: Ask = (client, messages) => client.messages.stream({ ...params, messages }).finalMessage()

async function watch(client: Anthropic, days: number, ask: Ask = whole): Promise<Anthropic.MessageParam[]> {
  const messages: Anthropic.MessageParam[] = []
  for (let day = 1; day <= days; day++) {
    messages.push({ role: 'user', content: `Look at day ${day}. ${rule}` })
    for (let isDone = false; !isDone; ) {
      const answer = await ask(client, messages)
      messages.push({ role: 'assistant', content: answer.content })
      const calls = answer.content.filter((block) => block.type === 'tool_use')
      const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: log(day) }))
      if (results.length > 0) messages.push({ role: 'user', content: results })
      isDone = results.length === 0
    }
  }
  return messages
}

const countIn = (value: unknown, word: string) => JSON.stringify(value).split(word).length - 1

describe.each([
  ['whole answers', whole],
  ['streams', streamed],
])('with %s', (_, ask) => {
  test('a conversation three times as long as the window continues, and the caller keeps all of it', async () => {
    const { client, sent, events, server } = await world()
    const messages = await watch(client, 24, ask)
    expect(messages).toHaveLength(24 * 4)
    expect(server.simulator.log.entries.every(({ status }) => status === 200)).toBe(true)
    expect(events.filter(({ type }) => type === 'compaction-finished').length).toBeGreaterThan(2)
    expect(JSON.stringify(sent.at(-1)?.body)).toContain(rule)
    expect(JSON.stringify(messages[2])).toContain('day 1 399')
  })

  test('the size is what the API reported', async () => {
    const { client, events } = await world()
    await watch(client, 2, ask)
    const checked = events.filter((event) => event.type === 'threshold-checked').map(({ tokens }) => tokens)
    const { usage } = await ask(client, [{ role: 'user', content: 'Something else.' }])
    // After two days: system prompt, tools, and two logs of more than 7,000 tokens each.
    expect(usage.input_tokens).toBeGreaterThan(0)
    expect(checked.at(-1)).toBeGreaterThan(15_000)
  })

  test('a prompt that the API refuses as too long is made smaller and sent again', async () => {
    const { client, server, events } = await world({ settings: { contextWindow: 1_000_000 } })
    const messages = await watch(client, 10, ask)
    expect(messages).toHaveLength(40)
    expect(server.simulator.log.entries.filter(({ status }) => status === 400).length).toBeGreaterThan(0)
    expect(events.some(({ type }) => type === 'compaction-finished' || type === 'micro-compacted')).toBe(true)
  })
})

test('without Everlong the same conversation ends at the window', async () => {
  const server = await startServer({ script: watcher, windows: { [model]: window } })
  closing.push(server.close)
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
  await expect(watch(client, 24)).rejects.toThrow(/prompt is too long/)
})

test('breakpoints are set, so that every turn reads what the one before wrote', async () => {
  const { client, sent } = await world()
  const messages = await watch(client, 2)
  expect(sent.every(({ body }) => countIn(body, '"cache_control"') >= 2 && countIn(body, '"cache_control"') <= 4)).toBe(
    true,
  )
  messages.push({ role: 'user', content: 'Thank you.' })
  const { usage } = await whole(client, messages)
  expect(usage.cache_read_input_tokens).toBeGreaterThan(15_000)
})

test('a caller who sets breakpoints keeps them, and gets no others', async () => {
  const { client, sent } = await world()
  const cache_control = { type: 'ephemeral' } as const
  const marked: Ask = (given, messages) =>
    given.messages.create({ ...params, system: [{ type: 'text', text: params.system, cache_control }], messages })
  await watch(client, 2, marked)
  expect(sent.map(({ body }) => countIn(body, '"cache_control"'))).toEqual([1, 1, 1, 1])
  expect(sent.map(({ body }) => countIn(body.system, '"cache_control"'))).toEqual([1, 1, 1, 1])
})

test('what is none of ours goes out as it came: counting, models, threads', async () => {
  const { client, sent } = await world()
  const messages = [{ role: 'user' as const, content: 'Hello.' }]
  await client.messages.countTokens({ model, messages })
  await client.models.retrieve(model).catch(() => undefined)
  await client.beta.messages
    .create({ model, max_tokens: 10, messages, thread: { type: 'create' } } as never)
    .catch(() => undefined)
  expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([
    '/v1/messages/count_tokens',
    `/v1/models/${model}`,
    '/v1/messages',
  ])
  expect(sent.map(({ body }) => countIn(body, '"cache_control"'))).toEqual([0, 0, 0])
})

test('an error that is not about length reaches the caller as it came', async () => {
  const { client } = await world()
  const wrong = client.messages.create({
    ...params,
    model: 'no-such-model',
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  await expect(wrong).rejects.toBeInstanceOf(Anthropic.NotFoundError)
})

test('two conversations on one client never mix', async () => {
  const { client, sent } = await world()
  const ask = async (name: string) => {
    const messages: Anthropic.MessageParam[] = []
    for (let turn = 1; turn <= 3; turn++) {
      messages.push({ role: 'user', content: `I am ${name}, turn ${turn}.` })
      messages.push({ role: 'assistant', content: [{ type: 'text', text: `Hello ${name}.` }] })
      messages.push({ role: 'user', content: 'Go on.' })
      await client.messages.create({ ...params, tools: [], messages })
      messages.push({ role: 'assistant', content: 'Yes.' })
    }
  }
  await Promise.all([ask('Ada'), ask('Bob')])
  expect(sent).toHaveLength(6)
  for (const { body } of sent) expect(countIn(body, 'Ada') > 0 && countIn(body, 'Bob') > 0).toBe(false)
})

test('another model can write the summaries', async () => {
  const server = await startServer({ script: watcher, windows: { [model]: window } })
  closing.push(server.close)
  const other = 'claude-haiku-4-5'
  const summaries = anthropic({ model: other, apiKey: 'none', baseURL: server.url })
  const { middleware } = everlong({ model: summaries, settings: { contextWindow: window } })
  await watch(new Anthropic({ apiKey: 'none', baseURL: server.url, middleware: [middleware] }), 8)
  const asked = server.simulator.log.entries.map((entry) => entry.model)
  expect(asked.filter((name) => name === model)).toHaveLength(16)
  expect(asked).toContain(other)
})

test('the caller’s messages and objects are never changed', async () => {
  const { client } = await world()
  const frozen: Ask = (given, messages) => {
    const before = JSON.stringify(messages)
    return whole(given, messages).then((answer) => {
      expect(JSON.stringify(messages)).toBe(before)
      return answer
    })
  }
  await watch(client, 8, frozen)
})

type ToolRun = {
  readonly days: number
  readonly result: (day: number) => string
  readonly system?: Anthropic.TextBlockParam[]
}

/** A tool runner under `runTools` that reads a log for each day. */
async function runDays({ days, result, system }: ToolRun) {
  let day = 0
  const read = betaZodTool({
    name: 'read_log',
    description: 'Reads a log.',
    inputSchema: z.object({}),
    run: async () => result(++day),
  })
  const loop = route([{ when: asksForSummary, script: summarizer() }], () =>
    day < days ? toolUse('read_log', {}) : text('Nothing unusual.'),
  )
  const busy = await startServer({ script: loop, windows: { [model]: window } })
  closing.push(busy.close)
  const sent: string[] = []
  const seen: typeof fetch = (url, init) => {
    sent.push(String(init?.body))
    return fetch(url, init)
  }
  const client = new Anthropic({ apiKey: 'none', baseURL: busy.url, fetch: seen, maxRetries: 0 })
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: 1_000,
    tools: [read],
    messages: [{ role: 'user', content: rule }],
    thread: false,
    ...(system ? { system } : {}),
  })
  const summaries = anthropic({ model, apiKey: 'none', baseURL: busy.url })
  const replies: unknown[] = []
  for await (const reply of everlong({ model: summaries, settings: { contextWindow: window } }).runTools(runner))
    replies.push(reply)
  const marks = sent.map((body) => body.split('"cache_control"').length - 1)
  return { replies, runner, marks, statuses: busy.simulator.log.entries.map(({ status }) => status) }
}

test('a tool runner carries only what the next request needs', async () => {
  const days = 12
  const { replies, runner, statuses } = await runDays({ days, result: log })
  expect(replies).toHaveLength(days + 1)
  expect(statuses.every((status) => status === 200)).toBe(true)
  expect(runner.params.messages.length).toBeLessThan(days)
  expect(JSON.stringify(runner.params.messages)).toContain(rule)
})

test('a tool runner never collects more cache marks than a request may have', async () => {
  const { replies, marks } = await runDays({ days: 8, result: (day) => `day ${day}: nothing` })
  expect(replies).toHaveLength(9)
  expect(marks).toEqual([0, 2, 2, 2, 2, 2, 2, 2, 2])
})

test('a tool runner leaves the cache to a caller who sets marks', async () => {
  const system: Anthropic.TextBlockParam[] = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }]
  const { marks } = await runDays({ days: 6, result: (day) => `day ${day}: nothing`, system })
  expect(marks).toEqual([1, 1, 1, 1, 1, 1, 1])
})

test('the window of a tool runner is that of its model, also where another one writes the summaries', async () => {
  const { server, client } = await world()
  const read = betaZodTool({ name: 'read_log', description: 'Reads.', inputSchema: z.object({}), run: () => 'Empty.' })
  const messages = [{ role: 'user' as const, content: rule }]
  const own = 'claude-haiku-4-5'
  const runner = client.beta.messages.toolRunner({
    model: own,
    max_tokens: 1_000,
    tools: [read],
    messages,
    thread: false,
  })
  const events: EngineEvent[] = []
  const summaries = anthropic({ model: 'claude-opus-4-8', apiKey: 'none', baseURL: server.url })
  const options = { model: summaries, environment: {}, onEvent: (event: EngineEvent) => void events.push(event) }
  for await (const reply of everlong(options).runTools(runner)) expect(reply).toBeDefined()
  expect(new Set(windowsIn(events))).toEqual(new Set([await windowOf(own)]))
  expect(await windowOf(own)).not.toBe(await windowOf('claude-opus-4-8'))
})
