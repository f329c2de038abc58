import { asksForSummary, route, startServer, summarizer, text, toolUse } from '@everlong/simulator'
import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  Runner,
  run,
  type Session,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import type { EngineEvent } from 'everlong'
import { openai } from 'everlong/openai'
import { everlong } from 'everlong/openai-agents'
import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { windowOf, windowsIn } from './windows.ts'

const name = 'gpt-5'
const window = 60_000
const rule = 'Never restart the server.'
const log = (day: number) =>
  Array.from({ length: 400 }, (_, at) => `day ${day} ${at}: GET /orders/${at * 7} 200 in ${at % 90} ms`).join('\n')
const watcher = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) =>
  JSON.stringify(messages.at(-1)).includes('tool_result') ? text('Nothing unusual.') : toolUse('read_log', {}),
)
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type How = { readonly by?: 'model' | 'filter' | 'nothing'; readonly told?: number; readonly store?: Session }

async function world({ by = 'model', told = window, store = new MemorySession() }: How = {}) {
  setTracingDisabled(true)
  const server = await startServer({ script: watcher, windows: { [name]: window } })
  const baseURL = `${server.url}/v1`
  const events: EngineEvent[] = []
  const managed = everlong({
    model: openai({ model: name, apiKey: 'none', baseURL }),
    settings: { contextWindow: told },
    onEvent: (event) => void events.push(event),
  })
  closing.push(managed.close, server.close)
  let day = 0
  const bare = new OpenAIChatCompletionsModel(new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 }), name)
  const read = tool({
    name: 'read_log',
    description: 'Reads a log.',
    parameters: z.object({}),
    execute: async () => log(day),
  })
  const model = by === 'model' ? managed.wrapModel(bare) : bare
  const agent = new Agent({ name: 'watcher', instructions: 'You watch over a server.', model, tools: [read] })
  const session = by === 'nothing' ? store : managed.wrapSession(store)
  const { callModelInputFilter } = managed
  const options = { session, ...(by === 'filter' ? { callModelInputFilter } : {}) }
  const watch = async (days: number) => {
    for (let at = 0; at < days; at++) await run(agent, `Look at day ${++day}. ${rule}`, options)
    return session.getItems()
  }
  const finished = () => events.filter(({ type }) => type === 'compaction-finished').length
  return { watch, server, finished, managed, agent }
}

test.each(['model', 'filter'] as const)(
  'by %s, runs go on through compactions, and the session stays small',
  async (by) => {
    const { watch, finished, server } = await world({ by })
    const items = await watch(20)
    expect(finished()).toBeGreaterThan(2)
    expect(items.length).toBeLessThan(30)
    expect(JSON.stringify(items)).toContain(rule)
    expect(server.simulator.log.entries.every(({ status }) => status === 200)).toBe(true)
  },
)

test('without Everlong the same runs end at the window', async () => {
  const { watch } = await world({ by: 'nothing' })
  await expect(watch(20)).rejects.toThrow(/maximum context length/)
})

test('a call that the API refuses as too long is made smaller and sent again', async () => {
  const { watch, server } = await world({ told: 1_000_000 })
  await watch(10)
  expect(server.simulator.log.entries.filter(({ status }) => status === 400).length).toBeGreaterThan(0)
})

test.each([
  ['named', 'named' as const],
  ['only its answers name it', 'unnamed' as const],
  ['the agent names it to the filter', 'filter' as const],
])('the window is that of the agent’s model, also where another one writes the summaries: %s', async (_, by) => {
  setTracingDisabled(true)
  const server = await startServer({ script: () => text('Hi.') })
  const baseURL = `${server.url}/v1`
  const own = 'claude-haiku-4-5'
  const events: EngineEvent[] = []
  const managed = everlong({
    model: openai({ model: name, apiKey: 'none', baseURL }),
    environment: {},
    onEvent: (event) => void events.push(event),
  })
  closing.push(managed.close, server.close)
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 })
  const bare = new OpenAIChatCompletionsModel(client, own)
  const runner = new Runner({ modelProvider: { getModel: () => bare } })
  const model = { named: managed.wrapModel(bare, own), unnamed: managed.wrapModel(bare), filter: own }[by]
  const agent = new Agent({ name: 'watcher', model, tools: [] })
  const session = managed.wrapSession(new MemorySession())
  const filter = by === 'filter' ? { callModelInputFilter: managed.callModelInputFilter } : {}
  for (const said of ['Hello.', 'Hello again.']) await runner.run(agent, said, { session, ...filter })
  const windows = windowsIn(events)
  expect(windows.at(-1)).toBe(await windowOf(own))
  if (by !== 'unnamed') expect(new Set(windows).size).toBe(1)
  expect(await windowOf(own)).not.toBe(await windowOf(name))
})

test('a store without transactions is emptied and filled again', async () => {
  const inner = new MemorySession()
  const store: Session = {
    getSessionId: () => inner.getSessionId(),
    getItems: (limit) => inner.getItems(limit),
    addItems: (items) => inner.addItems(items),
    popItem: () => inner.popItem(),
    clearSession: () => inner.clearSession(),
  }
  const { watch, finished } = await world({ store })
  const items = await watch(12)
  expect(finished()).toBeGreaterThan(0)
  expect(items.length).toBeLessThan(30)
})

test('the session keeps every ability of its store', async () => {
  const { managed } = await world()
  const store = new MemorySession({ sessionId: 'one' })
  const session = managed.wrapSession(store)
  await session.applyHistoryTransaction({
    operationId: 'a',
    transaction: { type: 'append_items', items: [{ role: 'user', content: 'Hello.' }] },
  })
  expect(await session.getSessionId()).toBe('one')
  expect(await store.getItems()).toEqual([{ role: 'user', content: 'Hello.' }])
})
