// What is held of idle sessions, and for how long.
import { costOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { checkConfig } from '../config/load.ts'
import { messages as dialect } from '../dialects/messages.ts'
import { idleSessions, type SeenExchange } from './idle.ts'
import { createReturns } from './returns.ts'
import { withoutOutput } from './touch.ts'
import { touchWorth } from './worth.ts'

const model = 'claude-opus-5'
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 50_000, cacheWriteHour: 0 }

function exchange(
  session: string,
  { time = 0, size = 100, ...more }: { time?: number; size?: number } & Partial<SeenExchange> = {},
) {
  const forwarded = { type: 'answered', isWhole: true, status: 200 }
  const passed = {
    ...{ time, dialect, forwarded, headers: {}, bytes: Buffer.alloc(size), caller: { tenant: 't', key: 'k' } },
    request: { route: {}, rawHeaders: [], sent: undefined },
  }
  return {
    passed,
    session,
    parent: undefined,
    user: undefined,
    model,
    usage,
    isCompaction: false,
    ...more,
  } as unknown as SeenExchange
}

function sessions(options: object = {}) {
  let now = 0
  const { keepAlive } = checkConfig({ keepAlive: options }, 'the test')
  if (!keepAlive) throw new Error('The setting is missing.')
  const idle = idleSessions(keepAlive, () => now)
  return {
    ...idle,
    at: (ms: number) => {
      now = ms
      return idle.due().map(({ idle: one }) => one.about.session)
    },
  }
}

test('is due once in each lifetime, from the margin on, up to the maximum; then nothing is held', () => {
  const { seen, at } = sessions()
  seen(exchange('a'))
  expect([at(279_999), at(280_000), at(280_001), at(559_999), at(560_000), at(840_000), at(841_000)]).toEqual([
    ...[[], ['a'], [], [], ['a'], [], []],
  ])
  expect(seen(exchange('a', { time: 842_000 }))).toBeUndefined()
})

test('of many requests the newest are held, up to exactly the limit', () => {
  const { seen, at } = sessions({ maxBytes: 300 })
  for (const name of ['a', 'b', 'c', 'd']) seen(exchange(name))
  expect(at(280_000)).toEqual(['b', 'c', 'd'])
  const smaller = sessions({ maxBytes: 299 })
  for (const name of ['a', 'b', 'c', 'd']) smaller.seen(exchange(name))
  expect(smaller.at(280_000)).toEqual(['c', 'd'])
})

test('the newest request of a session replaces the earlier one, and one that is not kept ends it', () => {
  const { seen, at } = sessions()
  seen(exchange('a'))
  seen(exchange('a', { time: 100_000 }))
  expect([at(280_000), at(380_000)]).toEqual([[], ['a']])
  const gone = exchange('a', { time: 390_000 })
  seen({ ...gone, passed: { ...gone.passed, forwarded: { ...gone.passed.forwarded, type: 'aborted' } } })
  expect(at(670_000)).toEqual([])
})

test('what is repeated is the request that was sent, not the one that came', () => {
  let now = 0
  const { keepAlive } = checkConfig({ keepAlive: {} }, 'the test')
  const { seen, due } = idleSessions(keepAlive as NonNullable<typeof keepAlive>, () => now)
  const plain = exchange('plain', { size: 3 })
  const reduced = exchange('reduced')
  seen(plain)
  seen({ ...reduced, passed: { ...reduced.passed, request: { ...reduced.passed.request, sent: { reduced: true } } } })
  now = 280_000
  expect(due().map(({ request }) => request.body.toString())).toEqual(['\0\0\0', '{"reduced":true}'])
})

test('when a touch does not pay, nothing is held that has the credential or what was said', () => {
  let now = 0
  const { keepAlive } = checkConfig({ keepAlive: { maxDollars: 0.0001 } }, 'the test')
  const { seen, due } = idleSessions(keepAlive as NonNullable<typeof keepAlive>, () => now)
  const given = exchange('a')
  const headers = { 'x-api-key': 'sk-secret' }
  const request = { ...given.passed.request, rawHeaders: ['x-api-key', 'sk-secret'] }
  seen({ ...given, passed: { ...given.passed, headers, request, bytes: Buffer.from('said') } })
  now = 280_000
  expect(due()).toEqual([])
  const held = seen(exchange('a', { time: 300_000 }))
  expect(held).toMatchObject({ lifetimes: 1, touches: 0, request: undefined })
  expect(JSON.stringify(held)).not.toMatch(/sk-secret|said|Buffer/)
})

test('two tenants with sessions of the same name are two', () => {
  const { seen, at } = sessions()
  const other = exchange('a')
  seen(exchange('a'))
  seen({ ...other, passed: { ...other.passed, caller: { ...other.passed.caller, tenant: 'other' } } })
  expect(at(280_000)).toEqual(['a', 'a'])
})

test('a touch pays from the share of returns on at which it costs what it saves', () => {
  const cost = costOf({ input: 10, output: 0, cacheRead: 50_000, cacheWrite: 0, cacheWriteHour: 0 }, model) ?? 0
  const saving =
    (costOf({ ...usage, input: 0, output: 0 }, model) ?? 0) -
    (costOf({ ...usage, input: 0, output: 0, cacheRead: 50_000, cacheWrite: 0 }, model) ?? 0)
  const worth = (returnShare: number) => touchWorth({ model, usage, returnShare })
  expect(worth(1)).toEqual({ cost: expect.closeTo(cost, 12), saving: expect.closeTo(saving, 12), pays: true })
  expect([worth(cost / saving + 0.001)?.pays, worth(cost / saving - 0.001)?.pays, worth(0)?.pays]).toEqual([
    true,
    false,
    false,
  ])
  // An hour’s cache costs twice the input price to write again.
  const hour = touchWorth({ model, usage: { ...usage, cacheWriteHour: 50_000 }, returnShare: 1 })
  expect((hour?.saving ?? 0) / saving).toBeCloseTo(1.9 / 1.15, 9)
  // A request that only read would write the same again.
  expect(
    touchWorth({ model, usage: { ...usage, cacheRead: 50_000, cacheWrite: 0 }, returnShare: 1 })?.saving,
  ).toBeCloseTo(saving, 12)
  expect(touchWorth({ model: 'unknown-model', usage, returnShare: 1 })).toBeUndefined()
})

test('the share of returns is learned for each key and each lifetime', () => {
  const { returned, stayedAway, share } = createReturns()
  expect(share('k', 1)).toBe(1 / 2)
  returned('k', 1)
  stayedAway('k', 1)
  stayedAway('k', 1)
  expect([share('k', 1), share('k', 2), share('other', 1)]).toEqual([2 / 5, 1 / 2, 1 / 2])
})

test.each([
  [
    { max_tokens: 9, stream: true, messages: [] },
    { max_tokens: 0, messages: [] },
  ],
  [
    { max_tokens: 9, thinking: { type: 'adaptive' } },
    { max_tokens: 0, thinking: { type: 'adaptive' } },
  ],
  [
    { max_tokens: 9, tool_choice: { type: 'auto' } },
    { max_tokens: 0, tool_choice: { type: 'auto' } },
  ],
  [{ max_tokens: 9, thinking: { type: 'enabled', budget_tokens: 5 } }, undefined],
  [{ max_tokens: 9, tool_choice: { type: 'tool', name: 't' } }, undefined],
  [{ max_tokens: 9, output_config: { format: { type: 'json_schema' } } }, undefined],
])('a request without output: %j', (body, expected) => {
  expect(withoutOutput(body)).toEqual(expected)
})
