import { describe, expect, test } from 'vitest'
import type { EngineSettings } from '../settings/table.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World } from './testing/world.ts'

const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
const cached = (cacheRead: number) => ({ input: 5, output: 100, cacheRead, cacheWrite: 2_000, cacheWriteHour: 0 })
const broken = ({ events }: World) => events.filter(({ type }) => type === 'cache-broken')

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
