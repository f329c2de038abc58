// Idle sessions in front of the simulator's prompt cache, with a clock that can be turned, prices included.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { turnableClock } from '@everlong/simulator'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { reportOf } from '../books/report.ts'
import { openState } from '../state/sqlite.ts'
import type { SetupOptions } from '../testing/setup.ts'
import { started, upstream } from '../testing/started.ts'
import { touchWorth } from './worth.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const model = 'claude-opus-5'
const credential = 'sk-of-the-caller'
const second = 1_000
/** About 25,000 tokens. */
const prompt = 'You are careful. '.repeat(7_000)

type Options = SetupOptions & { readonly keepAlive?: object | undefined; readonly ttl?: '5m' | '1h' }

async function idling({ keepAlive = {}, ttl = '5m', config, ...options }: Options = {}) {
  const clock = turnableClock(Date.UTC(2026, 10, 18))
  const setup = await started({
    ...{ ...options, simulator: { clock }, ports: { now: () => clock.now(), ...options.ports } },
    config: { ...(keepAlive === null ? {} : { keepAlive }), ...config },
  })
  const { server, gateway, url, lines } = setup
  /** Says something in a session; the history is short, the system prompt is what is cached. */
  const say = async (session: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) => {
    const cache_control = { type: 'ephemeral', ttl }
    const body = { model, max_tokens: 50, system: [{ type: 'text', text: prompt, cache_control }], ...more }
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': credential,
        'anthropic-version': '2023-06-01',
        'x-everlong-session': session,
        ...headers,
      },
      body: JSON.stringify({ messages: [{ role: 'user', content: `Hello from ${session}.` }], ...body }),
    })
    expect(response.status).toBe(200)
    await response.text()
    await gateway.settled()
  }
  const told = () => lines.filter(({ event }) => String(event).endsWith('kept-alive'))
  /** Time passes, and idle sessions are looked at once. Returns how many touches that made. `expected` are waited for. */
  const pass = async (ms: number, expected = 0): Promise<number> => {
    const before = told().length
    clock.turn(ms)
    vi.advanceTimersByTime(5_000)
    await expect.poll(() => told().length - before, { timeout: 10_000 }).toBeGreaterThanOrEqual(expected)
    // More of them would come now.
    await new Promise((resolve) => setTimeout(resolve, 20))
    return told().length - before
  }
  const report = async () => {
    await gateway.settled()
    return (await (await fetch(`${url}/everlong/report`)).json()) as ReturnType<typeof reportOf>
  }
  return { ...setup, clock, say, pass, told, report, cost: () => server.simulator.meter.totals().cost }
}

/** A pause of nine minutes, with a look shortly before the cache expires. */
async function pauseOfNineMinutes({ keepAlive }: Options) {
  const one = await idling({ keepAlive })
  await one.say('chat')
  const touches = [
    await one.pass(279 * second),
    await one.pass(2 * second, keepAlive === null ? 0 : 1),
    await one.pass(30 * second),
  ]
  one.clock.turn(229 * second)
  await one.say('chat')
  return { ...one, touches, report: await one.report(), cost: one.cost() }
}

describe('a client that returns after the cache would have expired', () => {
  test('finds it, for less than without a touch, and the books say by how much', async () => {
    const without = await pauseOfNineMinutes({ keepAlive: null as never })
    const kept = await pauseOfNineMinutes({})
    expect([without.touches, kept.touches]).toEqual([
      [0, 0, 0],
      [0, 1, 0],
    ])
    const outcomes = ({ report }: typeof kept) =>
      report.cache.filter(({ requests }) => requests > 0).map(({ outcome }) => outcome)
    expect([outcomes(without), outcomes(kept)]).toEqual([
      ['first-request', 'expired'],
      ['hit', 'first-request'],
    ])
    expect(kept.report.keepAlive).toEqual({
      ...{ touches: 1, kept: 1, cost: expect.any(Number), saved: expect.any(Number) },
    })
    // The simulator's bill is that of the books, row by row.
    expect(kept.cost).toBeCloseTo(kept.report.cost + kept.report.keepAlive.cost, 9)
    expect(kept.cost).toBeLessThan(without.cost)
    const { saved, cost } = kept.report.keepAlive
    expect(saved - cost).toBeCloseTo(without.cost - kept.cost, 9)
    expect(kept.report).toMatchObject({ requests: 2, own: { requests: 0 }, balance: expect.closeTo(saved - cost, 9) })
    expect(without.report).toMatchObject({ keepAlive: { touches: 0, cost: 0, kept: 0, saved: 0 }, balance: 0 })
  })

  test('within five minutes, nothing is touched and nothing saved', async () => {
    const { say, pass, report } = await idling()
    await say('chat')
    expect(await pass(200 * second)).toBe(0)
    await say('chat')
    expect(await pass(200 * second)).toBe(0)
    expect((await report()).keepAlive).toEqual({ touches: 0, cost: 0, kept: 0, saved: 0 })
  })
})

describe('a client that does not return', () => {
  test('costs the maximum of touches, and the balance is below zero', async () => {
    const { say, pass, report, cost } = await idling({ keepAlive: { maxTouches: 3 } })
    await say('chat')
    const before = cost()
    const touches: number[] = []
    for (let at = 0; at < 6; at++) touches.push(await pass(285 * second, at < 3 ? 1 : 0))
    expect(touches).toEqual([1, 1, 1, 0, 0, 0])
    const { keepAlive, balance } = await report()
    expect(keepAlive).toEqual({ touches: 3, cost: expect.closeTo(cost() - before, 9), kept: 0, saved: 0 })
    expect(balance).toBeCloseTo(-keepAlive.cost, 9)
  })

  test('teaches that touches do not pay; clients that return teach the opposite', async () => {
    const { say, pass } = await idling({ keepAlive: { maxTouches: 1 } })
    let touches = 0
    for (let at = 0; at < 14; at++) {
      await say(`left-${at}`)
      touches += await pass(285 * second, at < 10 ? 1 : 0)
      await pass(285 * second)
    }
    // 1 in 12 is the first share that a touch, at 8.7 % of what a miss costs, does not pay for.
    expect(touches).toBe(10)
    for (let at = 0; at < 4; at++) {
      await say('faithful')
      // After one that returned, the share is 2 in 17.
      expect(await pass(285 * second, at === 0 ? 0 : 1)).toBe(at === 0 ? 0 : 1)
    }
    await say('faithful')
    expect(await pass(285 * second, 1)).toBe(1)
  }, 40_000)
})

describe('is not touched', () => {
  const touchesAfter = async (options: Options, more: object = {}, headers: Readonly<Record<string, string>> = {}) => {
    const { say, pass } = await idling(options)
    await say('chat', more, headers)
    return pass(285 * second)
  }

  test.each<[string, Options, object, Readonly<Record<string, string>>]>([
    ['without the setting', { keepAlive: null as never }, {}, {}],
    ['a prefix that is too small', { keepAlive: { minTokens: 60_000 } }, {}, {}],
    ['a prefix that costs too much', { keepAlive: { maxDollars: 0.001 } }, {}, {}],
    ['more than may be held', { keepAlive: { maxBytes: 1_000 } }, {}, {}],
    [
      'thinking that must have output',
      {},
      { max_tokens: 3_000, thinking: { type: 'enabled', budget_tokens: 1_024 }, model: 'claude-sonnet-4-5' },
      {},
    ],
    [
      'a forced tool',
      {},
      { tools: [{ name: 't', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
      {},
    ],
    [
      'a sub-agent',
      {},
      {},
      { 'x-everlong-session': '', 'x-claude-code-session-id': 'cc', 'x-claude-code-agent-id': 'a1' },
    ],
    ['a compaction', {}, {}, { 'x-claude-code-request-class': 'compaction', 'x-claude-code-compaction': 'manual' }],
  ])('%s', async (_, options, more, headers) => {
    expect(await touchesAfter(options, more, headers)).toBe(0)
  })

  test('a prefix of one token less than the minimum, but one of exactly the minimum is', async () => {
    const probe = await idling()
    await probe.say('chat')
    const prefix = (await probe.report()).models[0]?.cacheWrite ?? 0
    expect(prefix).toBeGreaterThan(20_000)
    const exact = await idling({ keepAlive: { minTokens: prefix } })
    await exact.say('chat')
    expect(await exact.pass(285 * second, 1)).toBe(1)
    expect(await touchesAfter({ keepAlive: { minTokens: prefix + 1 } })).toBe(0)
  })

  test('after the gateway has stopped, or when the look came too late', async () => {
    const late = await idling()
    await late.say('chat')
    expect(await late.pass(301 * second)).toBe(0)
    const stopped = await idling()
    await stopped.say('chat')
    await stopped.gateway.close()
    expect(await stopped.pass(285 * second)).toBe(0)
  })
})

test('an hour’s cache is touched before the hour ends, and not before', async () => {
  const { say, pass } = await idling({ ttl: '1h' })
  await say('chat')
  expect([await pass(285 * second), await pass(3_290 * second), await pass(10 * second, 1)]).toEqual([0, 0, 1])
})

test.each([
  ['earlier', -1, 1],
  ['later', 1, 0],
] as const)('a session whose newest request another gateway has served, %s', async (_, ms, expected) => {
  const { say, pass, folder, clock } = await idling()
  const served = { watch: { deletedTokens: 0, baseline: { time: clock.now() + ms } } }
  await say('chat')
  const state = openState(join(folder, 'gateway.db'))
  await state.notes.put('default', 'chat', 'watch', JSON.stringify(served))
  await state.close()
  expect(await pass(285 * second, expected)).toBe(expected)
})

/** An upstream whose answers report this number of tokens that were read from the cache. */
async function upstreamWith(cached: () => number, status: () => number = () => 200) {
  return upstream(() => ({
    ...{ status: status(), headers: ['content-type', 'application/json'] },
    body: JSON.stringify({
      ...{ id: 'm', type: 'message', role: 'assistant', model, content: [], stop_reason: 'end_turn' },
      usage: { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: cached(), cache_creation_input_tokens: 0 },
    }),
  }))
}

test('a touch saves the prefix that it kept, however much more the client reads when it returns', async () => {
  let cached = 30_000
  const { url } = await upstreamWith(() => cached)
  const { say, pass, report } = await idling({ config: { upstreams: { simulator: { url } } } })
  await say('chat')
  await pass(285 * second, 1)
  cached = 90_000
  await say('chat')
  const usage = { input: 0, output: 0, cacheRead: 30_000, cacheWrite: 0, cacheWriteHour: 0 }
  const saved = touchWorth({ model, usage, returnShare: 1 })?.saving ?? 0
  expect((await report()).keepAlive).toMatchObject({ touches: 1, kept: 1, saved: expect.closeTo(saved, 9) })
})

test('the touch is the caller’s request without output; the credential is nowhere in the folder; a refusal ends it', async () => {
  let status = 200
  const { got, url } = await upstreamWith(
    () => 30_000,
    () => status,
  )
  const config = { upstreams: { simulator: { url } } }
  const { say, pass, told, folder, lines, report } = await idling({ config, keepAlive: { maxTouches: 5 } })
  await say('chat', { temperature: 0.5 }, { 'anthropic-beta': 'one-1' })
  expect(await pass(285 * second, 1)).toBe(1)
  const [first, touch] = got
  const { max_tokens: _, ...asked } = JSON.parse(first?.body.toString() ?? '')
  expect(JSON.parse(touch?.body.toString() ?? '')).toEqual({ ...asked, max_tokens: 0 })
  expect(touch?.request.headers).toMatchObject({ 'x-api-key': credential, 'anthropic-beta': 'one-1' })
  expect(Object.keys(touch?.request.headers ?? {}).filter((name) => name.startsWith('x-everlong'))).toEqual([])
  status = 401
  expect([await pass(285 * second, 1), await pass(285 * second)]).toEqual([1, 0])
  expect(got).toHaveLength(3)
  expect(told().map(({ level, event, status: code }) => [level, event, code])).toEqual([
    ['info', 'kept-alive', 200],
    ['warn', 'not-kept-alive', 401],
  ])
  expect((await report()).keepAlive).toMatchObject({ touches: 2, kept: 0 })
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name)).includes(credential)).toBe(false)
  }
  expect(JSON.stringify(lines)).not.toContain(credential)
})
