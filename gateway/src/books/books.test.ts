// The books over a real conversation with the simulator's prompt cache and a clock that can be turned.
import Anthropic from '@anthropic-ai/sdk'
import { turnableClock } from '@everlong/simulator'
import { costOf } from 'everlong/internal'
import { afterEach, expect, test } from 'vitest'
import { messages as dialect } from '../dialects/messages.ts'
import { type Setup, type SetupOptions, setUp } from '../testing/setup.ts'
import type { Sum } from './book.ts'
import { watchCache } from './cache-watch.ts'
import { reportOf } from './report.ts'
import { rowOf } from './rows.ts'

let setup: Setup | undefined
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

const model = 'claude-opus-5'
const system = (text: string) => [
  { type: 'text' as const, text: text.repeat(800), cache_control: { type: 'ephemeral' as const } },
]

/** A conversation that goes on by itself, with a cached system prompt. */
function talk(url: string, session: string) {
  const client = new Anthropic({
    apiKey: 'any',
    baseURL: url,
    maxRetries: 0,
    defaultHeaders: { 'x-everlong-session': session },
  })
  const messages: Anthropic.MessageParam[] = []
  return async (text: string, prompt = 'You are careful. '): Promise<void> => {
    messages.push({ role: 'user', content: text })
    const { content } = await client.messages.create({ model, max_tokens: 50, system: system(prompt), messages })
    messages.push({ role: 'assistant', content })
  }
}

async function started(options: SetupOptions = {}) {
  const clock = turnableClock(Date.UTC(2026, 10, 18))
  setup = await setUp({ ...options, simulator: { clock }, ports: { now: () => clock.now() } })
  return { ...setup, clock }
}

async function reportIn({ gateway, url }: Setup): Promise<ReturnType<typeof reportOf>> {
  await gateway.settled()
  return (await (await fetch(`${url}/everlong/report`)).json()) as ReturnType<typeof reportOf>
}

test('each request has the reason why the cache was missed, and the price is that of the simulator', async () => {
  const started1 = await started()
  const { clock, server, url } = started1
  const say = talk(url, 'chat')
  await say('one')
  await say('two')
  clock.turn(6 * 60_000)
  await say('three')
  await say('four', 'You are bold. ')
  const report = await reportIn(started1)
  const counts = Object.fromEntries(report.cache.map(({ outcome, requests }) => [outcome, requests]))
  expect(counts).toEqual({ hit: 1, 'first-request': 1, expired: 1, 'prefix-changed': 1, 'not-cached': 0, unknown: 0 })
  expect(report.cost).toBeCloseTo(server.simulator.meter.totals().cost, 9)
  expect(report.cache.find(({ outcome }) => outcome === 'expired')?.cost).toBeGreaterThan(0)
  expect(report).toMatchObject({ requests: 4, failed: 0, unpriced: 0, balance: 0, own: { requests: 0, cost: 0 } })
})

test('they know the conversation after a restart', async () => {
  const first = await started()
  const say = talk(first.url, 'chat')
  await say('one')
  await first.gateway.close()
  const again = await setUp({ folder: first.folder, ports: { now: () => first.clock.now() + 7 * 60_000 } })
  await talk(again.url, 'chat')('one')
  await again.gateway.settled()
  const counts = (await reportIn(again)).cache.filter(({ requests }) => requests > 0)
  expect(counts.map(({ outcome }) => outcome)).toEqual(['first-request', 'expired'])
  await again.close()
})

test('metrics count the same, without a name of a session or a word of it', async () => {
  const one = await started()
  await talk(one.url, 'my-secret-session')('heron')
  await one.gateway.settled()
  const text = await (await fetch(`${one.url}/metrics`)).text()
  expect(text).toContain(
    `everlong_gateway_requests_total{tenant="default",kind="client",api="messages",model="${model}",status="200"} 1`,
  )
  expect(text).toContain('outcome="first-request"} 1')
  expect(text).not.toMatch(/my-secret-session|heron/)
})

test('own calls that cost more than was saved leave a negative balance', () => {
  const none = { requests: 1, failed: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, unpriced: 0, missCost: 0 }
  const row = { ...none, tenant: 'a', model, level: 'manage', cache: 'hit' } as const
  const sums: readonly Sum[] = [
    { ...row, kind: 'client', cost: 1, removed: 100, saved: 0.25 },
    { ...row, kind: 'own', cost: 0.75, removed: 0, saved: 0 },
  ]
  expect(reportOf(sums)).toMatchObject({
    cost: 1,
    removed: { tokens: 100, saved: 0.25 },
    own: { requests: 1, cost: 0.75 },
    balance: -0.5,
  })
})

test('a report of a period leaves out what was before', async () => {
  const one = await started()
  const say = talk(one.url, 'chat')
  await say('one')
  one.clock.turn(60_000)
  const since = one.clock.now()
  await say('two')
  await one.gateway.settled()
  const requests = async (from: number) =>
    ((await (await fetch(`${one.url}/everlong/report?since=${from}`)).json()) as { requests: number }).requests
  expect([await requests(0), await requests(since), await requests(since + 1_000)]).toEqual([2, 1, 0])
})

test.each([
  ['more than it was', { tokens: 61_000, cost: 0.5 }, [41_000, 0.5]],
  ['less than it was: the gateway lost money', { tokens: 8_000, cost: 0.001 }, [0, 0.001]],
  ['of unknown price', { tokens: 61_000, cost: undefined }, [41_000, undefined]],
] as const)('a row has the difference to the request of the client alone: %s', (_, alone, [removed, cost]) => {
  const usage = { input: 0, output: 9, cacheRead: 19_000, cacheWrite: 1_000, cacheWriteHour: 0 }
  const level = 'manage' as const
  const passed = {
    ...{ caller: { tenant: 'a', key: 'k', level, limits: {} }, level, upstream: 'u', dialect },
    ...{ time: 0, ms: 0, forwarded: { status: 200 } },
  }
  const booked = { id: 'r', kind: 'client', user: undefined, model, session: 's', watched: undefined, usage } as const
  const saved = cost === undefined ? undefined : cost - (costOf(usage, model) ?? 0)
  expect(rowOf(passed, { ...booked, alone })).toMatchObject({ removed, saved })
  expect(rowOf(passed, booked)).toMatchObject({ removed: 0, saved: 0 })
})

test('a mark for the cache that moves to a later message changes no prefix', async () => {
  const kept = new Map<string, string>()
  const notes = {
    get: async (...place: readonly string[]) => kept.get(place.join(' ')),
    put: async (tenant: string, session: string, kind: string, text: string) =>
      void kept.set([tenant, session, kind].join(' '), text),
    remove: async () => undefined,
  }
  const mark = { cache_control: { type: 'ephemeral' } }
  const said = (text: string, more: object = {}) => ({
    role: 'user' as const,
    content: [{ type: 'text', text, ...more }],
  })
  const reasonOf = async (messages: readonly object[], time: number) => {
    const asked = { model, system: 'Be brief.', tools: [], messages: messages as never, isStreamed: false }
    const usage = { input: 0, output: 1, cacheRead: 0, cacheWrite: 9_000, cacheWriteHour: 0 }
    const watched = await watchCache(notes, { tenant: 'a', session: 's', asked, usage, raw: {}, time })
    await watched.remember()
    return watched.cache
  }
  expect(await reasonOf([said('one', mark)], 0)).toBe('first-request')
  expect(await reasonOf([said('one'), said('two', mark)], 6 * 60_000)).toBe('expired')
  expect(await reasonOf([said('other'), said('two', mark)], 7 * 60_000)).toBe('prefix-changed')
})
