import { describe, expect, test } from 'vitest'
import type { EngineSettings } from '../settings/table.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, memoryStore, scripted, type World } from './testing/world.ts'

const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
const cached = (cacheRead: number) => ({ input: 5, output: 100, cacheRead, cacheWrite: 2_000, cacheWriteHour: 0 })
/** Cache misses that Everlong did not cause. */
const broken = ({ events }: World) =>
  events.filter((event) => event.type === 'cache-missed' && event.reason === 'unknown')

describe('a drop of what was read from the cache', () => {
  const said = (world: World, more: Parameters<typeof answerOf>[1]) => {
    world.session.add({ role: 'user', content: 'Go on.' })
    world.session.record(answerOf('Done.', more))
  }

  test('by what the answer says was deleted is no break, and the deletions stay', () => {
    const world = createTestWorld({ model: scripted(() => '', { capabilities: { cacheEdits: true } }) })
    said(world, { id: 'a', usage: cached(50_000) })
    said(world, { id: 'b', usage: cached(30_000), extra: { usage: { cache_deleted_input_tokens: 20_000 } } })
    expect(broken(world)).toEqual([])
    expect(world.session.tracking().watch.deletedTokens).toBe(20_000)
  })

  test('in an answer that tells what the server cleared is no break; the same again is one', () => {
    const world = createTestWorld()
    const applied = [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 4, cleared_input_tokens: 20_000 }]
    const extra = { context_management: { applied_edits: applied } }
    said(world, { id: 'a', usage: cached(50_000) })
    said(world, { id: 'b', usage: cached(10_000), extra })
    said(world, { id: 'c', usage: cached(30_000), extra })
    expect(broken(world)).toEqual([])
    said(world, { id: 'd', usage: cached(5_000), extra })
    expect(broken(world)).toHaveLength(1)
  })

  test('each newer report of what the server cleared replaces the one before', () => {
    const world = createTestWorld()
    const reported = (cleared_input_tokens: number) => ({
      context_management: { applied_edits: [{ cleared_tool_uses: 4, cleared_input_tokens }] },
    })
    for (const tokens of [20_000, 30_000, 30_000, 35_000])
      said(world, { id: `a${tokens}${Math.random()}`, usage: cached(5_000), extra: reported(tokens) })
    const cleared = world.runtime.conversation.view().edits.filter(({ edit }) => edit.type === 'server-cleared')
    expect(cleared.map(({ edit }) => 'tokens' in edit && edit.tokens)).toEqual([20_000, 30_000, 35_000])
  })

  test('in an answer in which the server summarized is no break', () => {
    const world = createTestWorld()
    said(world, { id: 'a', usage: cached(50_000) })
    const iterations = [
      { ...cached(50_000), type: 'compaction' },
      { ...cached(3_000), type: 'message' },
    ]
    said(world, { id: 'b', usage: { ...cached(3_000), iterations } })
    expect(broken(world)).toEqual([])
  })
})

test('the usage of an answer counts for the size only if the model is still the one that gave it', async () => {
  for (const isOther of [false, true]) {
    const world = createTestWorld()
    world.session.add({ role: 'user', content: 'Go on.' })
    await world.session.prepare()
    const other = scripted(() => 'Done.', { model: 'claude-haiku-4-5' })
    if (isOther) await world.session.useModel({ client: other, name: 'claude-haiku-4-5' })
    world.session.record(answerOf('Done.', { id: 'a', usage: usage(22_000) }))
    const { reported } = world.runtime.gauge.size()
    expect(reported).toBe(isOther ? 0 : 22_000)
    expect(world.session.spent().turn?.usage.input).toBe(21_900)
  }
})

describe('every answer with usage', () => {
  const reasons = ({ events }: World) => events.flatMap((event) => (event.type === 'cache-missed' ? event.reason : []))

  test('is a hit or a miss with a reason, and together they are all requests', async () => {
    const world = createTestWorld({ compaction: [summarizing({ offline: 'always' })] })
    const turn = async (cacheRead: number, cacheWrite: number, pause = 0) => {
      world.turn(pause)
      world.session.add({ role: 'user', content: words(3_000) })
      await world.session.prepare()
      const spent = { input: 5, output: 10, cacheRead, cacheWrite, cacheWriteHour: 0 }
      world.session.record(answerOf('Done.', { id: `msg_${world.events.length}`, usage: spent }))
    }
    await turn(0, 20_000)
    await turn(20_000, 1_000)
    await turn(5_000, 16_000, 300_000)
    await turn(0, 21_000)
    await world.session.compact()
    await turn(5_000, 6_000)
    await turn(11_000, 1_000)
    // An answer without usage does not count as a request.
    world.session.add({ role: 'user', content: 'Go on.' })
    world.session.record({ content: 'Fine.' })
    expect(reasons(world)).toEqual(['first-request', 'expired', 'unknown', 'prefix-changed'])
    const { requests, cache } = world.session.spent().turn
    expect(cache).toEqual({
      hit: 2,
      'first-request': 1,
      expired: 1,
      unknown: 1,
      'prefix-changed': 1,
      'not-cached': 0,
    })
    expect(Object.values(cache).reduce((sum, count) => sum + count, 0)).toBe(requests)
  })

  test('is compared with the one before it, also after the session was opened again', async () => {
    const store = memoryStore()
    const first = createTestWorld({ store })
    first.session.add({ role: 'user', content: 'Go on.' })
    first.session.record(answerOf('Done.', { usage: cached(50_000) }))
    const second = createTestWorld({ store })
    second.turn(300_000)
    second.session.add({ role: 'user', content: 'Go on.' })
    await second.session.prepare()
    second.session.record(answerOf('Done.', { id: 'msg_2', usage: cached(0) }))
    expect(reasons(second)).toEqual(['expired'])
  })

  test('a miss has its price: what was written again costs more than reading it', async () => {
    const world = createTestWorld()
    world.session.add({ role: 'user', content: 'Go on.' })
    world.session.record(answerOf('Done.', { usage: { ...cached(0), cacheWrite: 100_000 } }))
    world.session.add({ role: 'user', content: 'Go on.' })
    world.session.record(answerOf('Done.', { id: 'msg_2', usage: { ...cached(0), cacheWrite: 100_000 } }))
    // 100,000 tokens at $5 per million: 1.25 times the price instead of 0.1.
    expect(world.events.findLast(({ type }) => type === 'cache-missed')).toMatchObject({
      reason: 'unknown',
      tokens: 100_000,
      cost: expect.closeTo(0.575, 6),
    })
  })
})

describe('before a request into a cold cache', () => {
  const cold = ({ events }: World) => events.filter(({ type }) => type === 'cache-cold')
  const idle = async (world: World, pause: number, cacheWrite = 100_000) => {
    world.session.add({ role: 'user', content: 'Go on.' })
    world.session.record(answerOf('Done.', { usage: { ...cached(0), cacheWrite } }))
    world.turn(pause)
    world.session.add({ role: 'user', content: 'Go on.' })
    await world.session.prepare()
  }

  test('its price is said, once, however often it is prepared', async () => {
    const world = createTestWorld()
    await idle(world, 300_000 + 720_000)
    await world.session.prepare()
    const [event, ...more] = cold(world)
    expect(more).toEqual([])
    expect(event).toMatchObject({
      expiredMs: 720_000,
      cost: expect.closeTo(0.625, 2),
      warmCost: expect.closeTo(0.05, 2),
    })
    expect(event).not.toHaveProperty('compactFirst')
  })

  test('nothing is said a moment before the cache expires, or if nothing was cached', async () => {
    const early = createTestWorld()
    await idle(early, 299_999)
    const uncached = createTestWorld()
    await idle(uncached, 3_600_000, 0)
    expect([cold(early), cold(uncached)]).toEqual([[], []])
  })

  test('a compaction first is offered where a cheaper model would summarize', async () => {
    const world = createTestWorld({ settings: { summary: { model: 'claude-haiku-4-5' } } })
    world.session.add({ role: 'user', content: 'Begin.' })
    world.session.record(answerOf('Done.', { id: 'msg_0', usage: { ...cached(0), cacheWrite: 5_000 } }))
    await idle(world, 400_000)
    // Haiku reads 100,000 tokens and writes 6,000 ($0.13); the request then writes 13,000 ($0.08).
    expect(cold(world)).toMatchObject([{ cost: expect.closeTo(0.63, 1), compactFirst: expect.closeTo(0.21, 1) }])
  })
})

describe('what is spent on compactions', () => {
  const full = (reply: string) => {
    const model = scripted(() => answerOf(reply, { usage: usage(1_000) }))
    const compaction = [summarizing({ offline: 'never' })]
    const world = createTestWorld({ settings: small, model, compaction })
    world.session.add({ role: 'user', content: words(2_000) })
    world.session.record(answerOf(words(8_000), { id: 'msg_1', usage: usage(22_000) }))
    return { world, model }
  }

  test('counts every request, also of those that failed', async () => {
    const { world, model } = full('')
    expect(await world.session.compact()).toMatchObject({ type: 'failed', reason: 'no-summary' })
    const { requests, usage: spent, cost } = world.session.spent().compact
    expect(model.requests.length).toBeGreaterThan(1)
    expect([requests, spent.input]).toEqual([model.requests.length, model.requests.length * 900])
    expect(cost).toBeGreaterThan(0)
  })

  test('is counted once for one that works', async () => {
    const { world, model } = full('<summary>\n1. Primary request and intent:\n- Mend it.\n</summary>')
    expect(await world.session.compact()).toMatchObject({ type: 'compacted' })
    expect(world.session.spent().compact).toMatchObject({ requests: model.requests.length, usage: { output: 100 } })
  })
})

test('what snips freed counts until the next answer, or until it is taken back', async () => {
  const world = createTestWorld({ settings: small })
  const freedTold = async () => {
    await world.session.prepare()
    const checked = world.events.findLast(({ type }) => type === 'threshold-checked')
    return checked?.type === 'threshold-checked' ? checked.freedBySnips : undefined
  }
  const [from = ''] = world.session.add({ role: 'user', content: words(3_000) })
  world.session.record(answerOf('Read.', { id: 'msg_1', usage: usage(8_000) }))
  const snipped = await world.session.snip({ from, to: from })
  const freed = snipped.type === 'done' ? snipped.freed : 0
  expect(freed).toBeGreaterThan(0)
  world.session.add({ role: 'user', content: 'Go on.' })
  expect(await freedTold()).toBe(freed)
  world.session.record(answerOf('Done.', { id: 'msg_2', usage: usage(5_000) }))
  expect(await freedTold()).toBe(0)
  await world.session.undo()
  expect(await freedTold()).toBe(0)
  world.session.record(answerOf('Done.', { id: 'msg_3', usage: usage(8_000) }))
  await world.session.snip({ from, to: from })
  expect(await freedTold()).toBeGreaterThan(0)
  await world.session.undo()
  expect(await freedTold()).toBe(0)
})

test.each([5_000_000, 10 ** 12, -5, Number.NaN])('a usage of %d tokens compacts no tiny chat', async (input) => {
  const world = createTestWorld({ compaction: [summarizing({ offline: 'always' })] })
  world.session.add({ role: 'user', content: 'How are you?' })
  world.session.record({ content: 'Fine.', usage: { input_tokens: input, output_tokens: 5 } })
  world.session.add({ role: 'user', content: 'Go on.' })
  expect(await world.session.prepare()).not.toHaveProperty('compaction')
  expect(world.session.explain().size).toMatchObject({ source: 'estimate' })
  expect(world.session.explain().size.tokens).toBeLessThan(100)
})

test('answers are the turns between two compactions', async () => {
  const world = createTestWorld({
    settings: small,
    compaction: [summarizing({ offline: 'always' })],
  })
  world.session.add({ role: 'user', content: 'Read everything.' })
  for (let at = 0; at < 24; at++) {
    world.session.record(answerOf(words(2_000), { id: `msg_${at}` }))
    world.session.add({ role: 'user', content: 'Go on.', origin: 'meta' })
    await world.session.prepare()
  }
  const chains = world.events.flatMap((event) => (event.type === 'compaction-finished' ? [event.chain] : []))
  expect(chains.length).toBeGreaterThan(1)
  expect(chains[1]).toMatchObject({ isRecompaction: true })
  expect(chains[1]?.turnsSincePrevious).toBeGreaterThan(2)
})
