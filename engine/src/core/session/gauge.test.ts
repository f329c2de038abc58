import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../ports/model.ts'
import type { EngineSettings } from '../settings/table.ts'
import { nothingLearned } from './context-note.ts'
import { plainMechanism, summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, memoryStore, scripted, type World } from './testing/world.ts'

const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
/** Window 40,000, 4,000 for output: effective 36,000, threshold 23,000. */
const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}

/** Rounds of a request and its answer, seconds apart. Each adds `tokens` to the reported size. */
function talk(world: World, rounds: number, tokens: number, from = 0): readonly string[] {
  const asked: string[] = []
  for (let at = 1; at <= rounds; at++) {
    world.turn(1_000)
    asked.push(...world.session.add({ role: 'user', content: `Task ${from + at}: ${words(tokens / 2)}` }))
    world.turn(1_000)
    const reported = usage(3_000 + (from + at) * tokens)
    world.session.record(answerOf(words(tokens / 2), { id: `msg_${from + at}`, usage: reported }))
  }
  return asked
}

describe('the gauge over time', () => {
  test('falls by what a collapse freed, and still rests on what was reported', async () => {
    const settings: EngineSettings = { ...small, collapse: true, reductions: { microCompact: false } }
    const world = createTestWorld({ settings, model: scripted(() => 'In short.') })
    talk(world, 7, 4_200)
    await world.session.idle()
    world.turn(1_000)
    world.session.add({ role: 'user', content: 'Go on.' })
    const before = world.session.explain().size
    expect(before.tokens).toBeGreaterThan(32_400)
    expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
    const after = world.session.explain().size
    expect(world.events.filter(({ type }) => type === 'micro-compacted')).toHaveLength(1)
    expect(after.tokens).toBeLessThan(before.tokens / 2)
    expect(after.source).toBe('usage+estimate')
  })

  test('shows after a partial compaction what that one says it left, until an answer reports', async () => {
    const world = createTestWorld({
      settings: { ...small, contextWindow: 60_000 },
      compaction: [summarizing({ offline: 'always' })],
    })
    talk(world, 4, 4_000)
    const kept = world.session.explain().size.tokens
    const [detour = ''] = talk(world, 2, 4_000, 4)
    const done = await world.session.compact({ from: detour })
    const after = done.type === 'compacted' ? done.after : 0
    expect(after).toBeGreaterThan(kept)
    expect(after).toBeLessThan(kept + 4_000)
    const told = { tokens: after, reported: 0, estimated: after, source: 'estimate' }
    expect(world.session.explain().size).toEqual(told)
    world.session.add({ role: 'user', content: 'Go on.' })
    expect(world.session.explain().size.tokens).toBe(after + 5)
    world.session.record(answerOf('Done.', { id: 'msg_9', usage: usage(17_000) }))
    expect(world.session.explain().size).toMatchObject({ tokens: 17_000, reported: 17_000, source: 'usage' })
  })

  test('takes off what a summary freed from the usage of the messages kept behind it', async () => {
    const world = createTestWorld({
      settings: { ...small, contextWindow: 60_000 },
      compaction: [summarizing({ offline: 'always' })],
    })
    const asked = talk(world, 6, 4_000)
    const before = world.session.explain().size.tokens
    const done = await world.session.compact({ upTo: asked[2] ?? '' })
    const { tokens } = world.session.explain().size
    expect(done).toMatchObject({ type: 'compacted', before, after: tokens })
    // Two of six turns were removed, and a summary was added.
    expect(tokens / before).toBeGreaterThan(4 / 6)
    expect(tokens / before).toBeLessThan(5 / 6)
  })

  test('counts what a compaction left by the same measure as what it began with', async () => {
    const world = createTestWorld({ settings: small, compaction: [plainMechanism(words(1_500))] })
    world.session.add({ role: 'user', content: words(3_000) })
    world.session.record(answerOf('Done.', { usage: usage(1_200) }))
    expect(await world.session.compact()).toMatchObject({ type: 'compacted', before: 1_200, after: 600 })
    world.session.add({ role: 'user', content: words(900) })
    expect(world.session.explain().size.tokens).toBeGreaterThan(1_400)
  })

  test('keeps a share for what is left, however much an estimate says was freed', async () => {
    const world = createTestWorld({ settings: small })
    const [from = ''] = world.session.add({ role: 'user', content: words(6_000) })
    world.session.record(answerOf('Done.', { id: 'msg_1', usage: usage(4_000) }))
    world.session.add({ role: 'user', content: words(2_000) })
    world.session.record(answerOf('Done.', { id: 'msg_2', usage: usage(5_000) }))
    expect(await world.session.snip({ from, to: from })).toMatchObject({ type: 'done' })
    const { tokens } = world.session.explain().size
    expect(tokens).toBeGreaterThan(1_000)
    expect(tokens).toBeLessThan(2_000)
  })
})

test('at the limit a request waits for as many spans as it takes', async () => {
  const settings: EngineSettings = { ...small, collapse: true, reductions: { microCompact: false } }
  const model = scripted(() => 'In short.')
  const slow = {
    ...model,
    send: async (...given: Parameters<typeof model.send>) => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      return model.send(...given)
    },
  }
  const world = createTestWorld({ settings, model: slow })
  talk(world, 4, 4_000)
  world.session.add({ role: 'user', content: words(1_000) })
  world.session.record(answerOf('Done.', { id: 'msg_5', usage: usage(39_500) }))
  world.session.add({ role: 'user', content: 'Go on.' })
  expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
  expect(world.events.filter(({ type }) => type === 'collapse-staged').length).toBeGreaterThan(1)
})

test('says when the next compaction is to be expected', () => {
  const world = createTestWorld({ settings: small })
  talk(world, 3, 4_000)
  const { prediction, size } = world.session.explain()
  expect(size.tokens).toBe(15_000)
  expect(prediction).toMatchObject({ growth: 4_000, turns: 2 })
})

describe('a limit that the provider named', () => {
  const learnedBy = (...limits: readonly number[]) => {
    const { runtime } = createTestWorld()
    const { gauge } = runtime
    for (const limit of limits) gauge.learnLimit({ limit, model: 'claude-a' })
    return { gauge, client: gauge.model().client }
  }

  test('holds for its endpoint and its model, and for no other', () => {
    const { gauge, client } = learnedBy(90_000)
    expect(gauge.limit(client, 'claude-a')).toBe(90_000)
    expect(gauge.limit(client, 'claude-b')).toBeUndefined()
    expect(gauge.limit({ ...client, endpoint: 'https://two' }, 'claude-a')).toBeUndefined()
    expect(gauge.limit(client, 'constructor')).toBeUndefined()
  })

  test('replaces the one before, unless it cannot be a window', () => {
    for (const limit of [90_000, 0, -1, 1_000, 90_000.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const { gauge, client } = learnedBy(90_000, limit)
      expect(gauge.limit(client, 'claude-a')).toBe(90_000)
    }
    const { gauge, client } = learnedBy(90_000, 80_000)
    expect(gauge.limit(client, 'claude-a')).toBe(80_000)
  })
})

describe('a history that no answer has counted', () => {
  const counting = (reply: () => Promise<number | undefined>, reports = 0) => {
    const asked: ModelRequest[] = []
    const model = scripted(() => answerOf('Done.', { usage: usage(Math.max(100, reports)) }))
    const count = async (request: ModelRequest) => {
      asked.push(request)
      const inputTokens = await reply()
      if (inputTokens !== undefined) return { type: 'counted', inputTokens } as const
      return { type: 'failed', reason: 'refused', message: 'no such address', tries: 1 } as const
    }
    return { asked, model: { ...model, count } }
  }
  const long = { role: 'user', content: words(10_000) } as const
  /** Imported by an adapter, so the cost of the answer is unknown. */
  const imported = ({ session }: World) => {
    session.add(long)
    session.record({ content: 'ok' })
    session.add({ role: 'user', content: 'Go on.' })
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve))
  const factorOf = ({ learned }: World) => learned.calibrations['claude-opus-4-5']?.factor

  test('is counted by the provider once, and the next request is sized with the result', async () => {
    const { asked, model } = counting(async () => 12_000)
    const world = createTestWorld({ model, settings: { contextWindow: 200_000 } })
    imported(world)
    const first = await world.session.prepare()
    const estimated = world.runtime.gauge.estimate(world.runtime.conversation.view())
    await settled()
    expect(asked.map(({ messages }) => messages)).toEqual([first.type === 'ready' ? first.messages : []])
    await world.session.prepare()
    const factor = 12_000 / estimated
    expect(factorOf(world)).toBeCloseTo(factor)
    expect(factor).toBeGreaterThan(1.2)
    expect(world.runtime.gauge.estimate(world.runtime.conversation.view())).toBeCloseTo(12_000, -2)
    expect(asked).toHaveLength(1)
  })

  test('is not counted while it is one question, when it is short, or when an answer of this model has counted it', async () => {
    const { asked, model } = counting(async () => 30_000)
    const other = createTestWorld({ model, settings: { contextWindow: 200_000 } })
    other.session.add(long)
    await other.session.prepare()
    const world = createTestWorld({ model, settings: { contextWindow: 200_000 } })
    world.session.add({ role: 'user', content: words(1_900 / 2) })
    await world.session.prepare()
    world.session.record({ content: 'ok' })
    world.session.add({ role: 'user', content: 'Go on.' })
    await world.session.prepare()
    world.session.record(answerOf('ok', { usage: usage(1_500) }))
    world.session.add(long)
    await world.session.prepare()
    await settled()
    expect(asked).toEqual([])
  })

  test('is not counted in a session that is opened again with the usage of an answer', async () => {
    const store = memoryStore()
    const first = createTestWorld({ store, settings: { contextWindow: 200_000 } })
    first.session.add(long)
    first.session.record(answerOf('ok', { usage: usage(12_000) }))
    const { asked, model } = counting(async () => 30_000)
    const world = createTestWorld({ store, model, settings: { contextWindow: 200_000 } })
    world.session.add({ role: 'user', content: 'Go on.' })
    await world.session.prepare()
    await settled()
    expect([world.session.messages().length, asked]).toEqual([3, []])
  })

  test('is counted for a model that the session changes to', async () => {
    const world = createTestWorld({ settings: { contextWindow: 200_000 } })
    world.session.add(long)
    world.session.record(answerOf('ok', { usage: usage(12_000) }))
    const { asked, model } = counting(async () => 40_000)
    await world.session.useModel({ client: { ...model, model: 'other' }, name: 'other' })
    world.session.add({ role: 'user', content: 'Go on.' })
    await world.session.prepare()
    await settled()
    expect([asked.map((request) => request.model), Object.keys(world.learned.calibrations)]).toEqual([
      ['other'],
      ['other'],
    ])
  })

  test('keeps its estimate if the provider cannot count, and nobody waits for it', async () => {
    const unable = counting(async () => undefined)
    const silent = counting(() => new Promise<never>(() => undefined))
    for (const { asked, model } of [unable, silent]) {
      const world = createTestWorld({ model, settings: { contextWindow: 200_000 } })
      imported(world)
      expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
      await settled()
      await world.session.prepare()
      expect([asked.length, factorOf(world)]).toEqual([1, undefined])
    }
  })

  test('an answer that comes first counts for more', async () => {
    let finish: (tokens: number) => void = () => undefined
    const { model } = counting(() => new Promise((resolve) => (finish = resolve)))
    const world = createTestWorld({ model, settings: { contextWindow: 200_000 } })
    imported(world)
    await world.session.prepare()
    world.session.record(answerOf('ok', { usage: usage(13_000) }))
    const learned = factorOf(world)
    finish(30_000)
    await settled()
    expect([learned !== undefined, factorOf(world)]).toEqual([true, learned])
  })
})

test('another model is counted by its own calibration, before and after the session changes to it', async () => {
  const { name: inUse } = createTestWorld().runtime.gauge.model()
  const calibrations = { [inUse]: { factor: 1.4 }, 'claude-other': { factor: 0.8 } }
  const { session, runtime } = createTestWorld({ learned: { ...nothingLearned(), calibrations } })
  const factors = () =>
    [undefined, inUse, 'claude-other', 'claude-third'].map((model) => runtime.gauge.counting(model).calibration?.factor)
  expect(factors()).toEqual([1.4, 1.4, 0.8, 1])
  await session.useModel({ client: scripted(() => 'x'), name: 'claude-other' })
  expect(factors()).toEqual([0.8, 1.4, 0.8, 1])
  await session.useModel({ client: scripted(() => 'x'), name: inUse })
  expect(factors()).toEqual([1.4, 1.4, 0.8, 1])
})
