import { expect, test } from 'vitest'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type WorldOptions } from './testing/world.ts'

const minute = 60_000
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const summary = '<summary>\n1. Primary request and intent:\n- Build the gate.\n</summary>'

/** A session of about 110,000 tokens whose waits end when the test decides. */
async function idle(options: WorldOptions = {}) {
  const timers: { readonly ms: number; readonly end: () => void; isStopped: boolean }[] = []
  const wait: WorldOptions['wait'] = (ms, signal) =>
    new Promise((resolve) => {
      // The keep-alive waits for half a minute, again and again.
      if (ms < 10_000) return resolve()
      const timer = { ms, end: resolve, isStopped: false }
      signal?.addEventListener('abort', () => {
        timer.isStopped = true
        resolve()
      })
      timers.push(timer)
    })
  const model = scripted(() => answerOf(summary, { id: 'msg_s' }))
  const world = createTestWorld({
    model,
    wait,
    compaction: [summarizing()],
    ...options,
    settings: { compactWhenIdle: true, ...options.settings },
  })
  const { session } = world
  let cached = 20_000
  const turn = async (tokens: number, cacheWrite = tokens) => {
    session.add({ role: 'user', content: words(tokens) })
    await session.prepare()
    const usage = { input: 5, output: 100, cacheRead: cached, cacheWrite, cacheWriteHour: 0 }
    cached += cacheWrite
    session.record(answerOf('Done.', { id: `msg_${cached}`, usage }))
  }
  await turn(5_000)
  await turn(90_000)
  const open = () => timers.filter(({ isStopped, ms }) => !isStopped && ms === 4.5 * minute)
  const fire = async () => {
    open().at(-1)?.end()
    for (let ticks = 0; ticks < 50; ticks++) await Promise.resolve()
    await session.stored()
    await session.idle()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const compactions = () => world.events.filter(({ type }) => type === 'compaction-finished').length
  return { world, model, open, fire, compactions, turn }
}

test('is compacted half a minute before its cache expires, from the cached prefix', async () => {
  const { world, model, open, fire, compactions } = await idle()
  expect(open()).toHaveLength(1)
  world.turn(4.5 * minute)
  await fire()
  expect([compactions(), model.requests.length]).toEqual([1, 1])
  expect(world.session.explain().size.tokens).toBeLessThan(30_000)
  // Only once, because the timer has ended.
  await fire()
  expect(compactions()).toBe(1)
  await world.session.close()
})

test('two answers in a row have one timer', async () => {
  const { world, open } = await idle()
  const usage = { input: 5, output: 100, cacheRead: 115_000, cacheWrite: 100, cacheWriteHour: 0 }
  world.session.record(answerOf('More.', { id: 'msg_more', usage }))
  world.session.record(answerOf('And more.', { id: 'msg_and_more', usage }))
  expect(open()).toHaveLength(1)
  await world.session.close()
})

test('the next request and a close stop the timer', async () => {
  const { world, open, turn } = await idle()
  world.session.add({ role: 'user', content: 'Go on.' })
  await world.session.prepare()
  expect(open()).toEqual([])
  await turn(100)
  expect(open()).toHaveLength(1)
  await world.session.close()
  expect(open()).toEqual([])
})

test('a person who comes back while the summary is written stops it, and nothing has changed', async () => {
  const { world, fire, compactions } = await idle({
    model: {
      ...scripted(() => ''),
      send: (_, options) =>
        new Promise((resolve) =>
          options?.signal?.addEventListener('abort', () =>
            resolve({ type: 'failed', reason: 'aborted', message: 'stopped', tries: 1 }),
          ),
        ),
    },
  })
  const before = world.session.messages()
  await fire()
  world.session.add({ role: 'user', content: 'Go on.' })
  expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
  expect(compactions()).toBe(0)
  expect(world.session.messages().slice(0, before.length)).toEqual(before)
  expect(world.session.tracking().breaker.failures).toBe(0)
  await world.session.close()
})

test.each<[string, WorldOptions]>([
  ['by default', { settings: { compactWhenIdle: false } }],
  ['where compaction is turned off', { environment: { DISABLE_COMPACT: '1' } }],
])('no timer runs %s', async (_, options) => {
  const { world, open } = await idle(options)
  expect(open()).toEqual([])
  await world.session.close()
})

test.each<[string, WorldOptions]>([
  ['if another model would summarize', { settings: { summary: { model: 'claude-haiku-4-5' } } }],
  ['if a person has to allow it', { settings: { compaction: 'ask' }, ask: async () => true }],
  ['by hand only', { settings: { compaction: 'manual' } }],
])('nothing is compacted %s', async (_, options) => {
  const { world, fire, compactions } = await idle(options)
  await fire()
  expect(compactions()).toBe(0)
  await world.session.close()
})

test('nothing is compacted after a compaction that was undone', async () => {
  const { world, fire, compactions, turn } = await idle()
  await world.session.compact()
  await world.session.undo()
  await turn(100)
  await fire()
  expect(compactions()).toBe(1)
  await world.session.close()
})

test('no timer runs in the middle of a turn, or if nothing is cached', async () => {
  const { world, open } = await idle()
  world.session.add({ role: 'user', content: 'Look.' })
  await world.session.prepare()
  const use = { type: 'tool_use', id: 't1', name: 'Read', input: {} }
  const usage = { input: 5, output: 10, cacheRead: 100_000, cacheWrite: 100, cacheWriteHour: 0 }
  world.session.record(answerOf([use], { id: 'msg_t', usage }))
  expect(open()).toEqual([])
  world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] })
  await world.session.prepare()
  world.session.record(answerOf('Done.', { id: 'msg_u', usage: { ...usage, cacheRead: 0, cacheWrite: 0 } }))
  expect(open()).toEqual([])
  await world.session.close()
})

test('an idle session is not compacted if the summary could not use its cache', async () => {
  for (const summary of [{ shareCache: false }, { model: 'claude-haiku-4-5' }]) {
    const { fire, compactions } = await idle({ settings: { summary } })
    await fire()
    expect([summary, compactions()]).toEqual([summary, 0])
  }
})
