import { asksForSummary, route, startServer, summarizer, text, toolUse } from '@everlong/simulator'
import { ChatAnthropic } from '@langchain/anthropic'
import { MemorySaver } from '@langchain/langgraph'
import { type EngineEvent, offline } from 'everlong'
import { everlong } from 'everlong/langchain'
import { type AgentMiddleware, contextEditingMiddleware, createAgent, ToolMessage, tool } from 'langchain'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { windowOf, windowsIn } from './windows.ts'

const model = 'claude-sonnet-4-6'
const window = 60_000
const rule = 'Never restart the server.'
const log = (day: number, lines = 400) =>
  Array.from({ length: lines }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')

const watcher = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) =>
  JSON.stringify(messages.at(-1)).includes('tool_result') ? text('Nothing unusual.') : toolUse('read_log', {}),
)
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function world(middleware: AgentMiddleware[], { name = model, lines = 400 } = {}) {
  const server = await startServer({ script: watcher, windows: { [model]: window } })
  closing.push(server.close)
  let day = 0
  const readLog = tool(() => log(day, lines), { name: 'read_log', description: 'Reads a log.', schema: z.object({}) })
  const agent = createAgent({
    model: new ChatAnthropic({
      model: name,
      apiKey: 'none',
      anthropicApiUrl: server.url,
      maxTokens: 1_000,
      maxRetries: 0,
    }),
    tools: [readLog],
    systemPrompt: 'You watch over a server.',
    middleware,
    checkpointer: new MemorySaver(),
  })
  const input = () => ({ messages: [{ role: 'user' as const, content: `Look at day ${++day}. ${rule}` }] })
  const watch = async (days: number, thread_id = 'one') => {
    let messages: Awaited<ReturnType<typeof agent.invoke>>['messages'] = []
    for (let at = 0; at < days; at++) messages = (await agent.invoke(input(), { configurable: { thread_id } })).messages
    return messages
  }
  return { agent, server, watch, input }
}

function managing(options: Parameters<typeof everlong>[0] = {}) {
  const events: EngineEvent[] = []
  const onEvent = (event: EngineEvent) => void events.push(event)
  return { events, options: { settings: { contextWindow: window, autoCompactAt: 35_000 }, onEvent, ...options } }
}
const finished = (events: readonly EngineEvent[]) => events.filter(({ type }) => type === 'compaction-finished').length

test('an agent continues through compactions, and its state holds no more than the context', async () => {
  const { events, options } = managing()
  const { watch, server } = await world([everlong(options).middleware])
  const messages = await watch(20)
  expect(finished(events)).toBeGreaterThan(2)
  expect(messages.length).toBeLessThan(20)
  expect(JSON.stringify(messages)).toContain(rule)
  expect(server.simulator.log.entries.every(({ status }) => status === 200)).toBe(true)
})

test('without Everlong the same agent ends at the window', async () => {
  const { watch } = await world([])
  await expect(watch(20)).rejects.toThrow(/prompt is too long/)
})

test('a request that the API refuses as too long is made smaller and sent again', async () => {
  const { events, options } = managing({ settings: { contextWindow: 1_000_000 } })
  const { watch, server } = await world([everlong(options).middleware])
  await watch(10)
  expect(server.simulator.log.entries.filter(({ status }) => status === 400).length).toBeGreaterThan(0)
  expect(finished(events) + events.filter(({ type }) => type === 'micro-compacted').length).toBeGreaterThan(0)
})

test('the window is that of the agent’s model, also where another client writes the summaries', async () => {
  const { events, options } = managing({ model: offline(), settings: {} })
  const { watch } = await world([everlong(options).middleware])
  await watch(2)
  expect(new Set(windowsIn(events))).toEqual(new Set([await windowOf(model)]))
})

test('a model call is prepared once, also where the state was replaced before it', async () => {
  const { events, options } = managing()
  const { watch, server } = await world([everlong(options).middleware])
  await watch(8)
  expect(finished(events)).toBeGreaterThan(0)
  const calls = server.simulator.log.entries.length - finished(events)
  const checked = events.filter(({ type }) => type === 'threshold-checked').length
  // Before its first call the middleware knows neither the model nor the tools.
  expect(checked).toBe(calls)
})

test('two threads never mix', async () => {
  const { options } = managing()
  const { watch } = await world([everlong(options).middleware])
  const [one, two] = [await watch(2, 'one'), await watch(2, 'two')]
  expect(JSON.stringify(one)).not.toContain('day 3')
  expect(JSON.stringify(two)).not.toContain('day 1.')
})

test('a large result is shortened, and its original is the artifact', async () => {
  const { options } = managing({ maxResultLength: 5_000 })
  const { watch } = await world([everlong(options).middleware])
  const result = (await watch(1)).find((message) => ToolMessage.isInstance(message))
  expect(String(result?.content).length).toBeLessThanOrEqual(5_000)
  expect(result?.artifact).toEqual({ original: log(1), artifact: undefined })
})

test('a summary does not show up in the agent’s stream', async () => {
  const { events, options } = managing()
  const { agent, input, watch } = await world([everlong(options).middleware])
  await watch(3)
  const before = finished(events)
  const seen: string[] = []
  for (let at = 0; at < 4; at++) {
    const stream = await agent.stream(input(), { configurable: { thread_id: 'one' }, streamMode: 'messages' })
    for await (const [message] of stream) if (message.type === 'ai') seen.push(message.text)
  }
  expect(finished(events)).toBeGreaterThan(before)
  expect(seen.join('')).toBe('Nothing unusual.'.repeat(4))
})

test('an error that is not about length is thrown as it came', async () => {
  const { options } = managing()
  const { watch } = await world([everlong(options).middleware], { name: 'claude-no-such-model' })
  await expect(watch(1)).rejects.toThrow(/not_found_error/)
})

test('a context edit reduces the list that LangChain hands over, which is the state’s own', async () => {
  const { events, options } = managing()
  const { watch } = await world([contextEditingMiddleware({ edits: [everlong(options).edit] })])
  const messages = await watch(12)
  expect(finished(events)).toBeGreaterThan(0)
  expect(messages.length).toBeLessThan(20)
})
