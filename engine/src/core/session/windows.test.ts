// One window for all code: the host's setting, the provider's value or a limit learned from an overflow also applies to
// summaries.
import { describe, expect, test } from 'vitest'
import { textOf } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import type { EngineSettings } from '../settings/table.ts'
import { estimateTokens } from '../tokens/estimate/estimate.ts'
import { plainMechanism, summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World, type WorldOptions } from './testing/world.ts'

const summary = '<summary>\n## 1. Primary request and intent\nThe files are read one by one.\n</summary>'
const sizeOf = (request: ModelRequest) => estimateTokens(JSON.stringify(request.messages))

function filled(world: World, rounds: number): void {
  for (let at = 0; at < rounds; at++) {
    world.session.add({ role: 'user', content: `Question ${at}? ${`some words of part ${at} `.repeat(500)}` })
    world.session.record(answerOf('It was looked into.', { id: `m${at}`, model: 'local' }))
  }
  world.session.add({ role: 'user', content: 'And now?' })
}

type Surroundings = {
  readonly refuses?: (request: ModelRequest) => boolean
  readonly environment?: Readonly<Record<string, string>>
}

function worldWith(settings: EngineSettings, { refuses = () => false, environment }: Surroundings = {}) {
  const model = scripted(
    (request) => {
      if (request.source !== 'compact') return 'Done.'
      const overflow = { actual: sizeOf(request), limit: 24_000 }
      return refuses(request)
        ? { type: 'failed', reason: 'overflow', message: 'too long', overflow, tries: 1 }
        : answerOf(summary, { model: 'local' })
    },
    { model: 'local', capabilities: { promptCache: false } },
  )
  const world = createTestWorld({
    settings: { maxOutputTokens: 4_000, ...settings },
    compaction: [summarizing()],
    model,
    ...(environment ? { environment } : {}),
  })
  return { world, model }
}

describe('the window of a summary', () => {
  test('is the one that the host sets: no request is larger', async () => {
    const { world, model } = worldWith({ contextWindow: 32_000 })
    filled(world, 40)
    expect(await world.session.compact()).toMatchObject({ type: 'compacted', mechanism: 'windows' })
    expect(Math.max(...model.requests.map(sizeOf))).toBeLessThan(32_000)
  })

  test('is not made smaller by a session that only uses a part of it', async () => {
    const { world, model } = worldWith(
      { contextWindow: 400_000 },
      { environment: { EVERLONG_AUTO_COMPACT_WINDOW: '32000' } },
    )
    filled(world, 40)
    expect(await world.session.compact()).toMatchObject({ type: 'compacted', mechanism: 'direct' })
    expect(model.requests).toHaveLength(1)
  })

  test('is what an overflow taught, from then on and for everybody', async () => {
    const { world } = worldWith({}, { refuses: (request) => sizeOf(request) > 24_000 })
    filled(world, 12)
    expect(world.session.explain().contextWindow.value).toBe(128_000)
    expect((await world.session.compact()).type).toBe('compacted')
    expect(world.session.explain().contextWindow).toEqual({ value: 24_000, source: 'learned from an overflow error' })
    const told = world.events.filter(({ type }) => type === 'limit-learned')
    expect(told).toEqual([
      { type: 'limit-learned', endpoint: 'scripted', model: 'local', limit: 24_000, sessionId: 'session-1' },
    ])
  })
})

test('a limit with which no setting works is not believed', async () => {
  const world = createTestWorld({ settings: { maxOutputTokens: 12_500 } })
  world.session.add({ role: 'user', content: 'Hello.' })
  const overflow = { actual: 14_000, limit: 12_000 }
  await world.session.recover({ type: 'failed', reason: 'overflow', message: 'too long', overflow, tries: 1 })
  expect(world.session.explain().contextWindow.value).toBe(200_000)
  expect(world.events.filter(({ type }) => type === 'limit-learned')).toEqual([])
})

test.each([
  ['compacts first where the history does not fit', {}, true],
  ['compacts nothing where auto-compact is off', { compaction: 'manual' }, false],
] as const)('a change to a model with a smaller window %s', async (_, settings, compacts) => {
  const small = scripted(() => 'Done.', { model: 'local', capabilities: { window: 32_000 } })
  const world = createTestWorld({
    settings: { maxOutputTokens: 4_000, ...settings },
    compaction: [plainMechanism('short')],
  })
  filled(world, 20)
  const switched = await world.session.useModel({ client: small, name: 'local' })
  expect(switched.compaction?.type).toBe(compacts ? 'compacted' : undefined)
})

test('the handover of a session that uses a part of the window takes 15 % of that part', async () => {
  const handover = async (environment: Readonly<Record<string, string>>) => {
    const { world } = worldWith({ contextWindow: 400_000 }, { environment })
    for (let at = 0; at < 40; at++) {
      const parts = Array.from(
        { length: 60 },
        (_, part) => `Door ${at}-${part} has hinge ${at * part} and lock ${part}.`,
      )
      world.session.add({ role: 'user', content: `How are the doors of floor ${at}?` })
      world.session.record(answerOf(parts.join('\n'), { id: `m${at}`, model: 'local' }))
    }
    world.session.add({ role: 'user', content: 'And now?' })
    expect((await world.session.compact()).type).toBe('compacted')
    return estimateTokens(
      world.session
        .messages()
        .map(({ content }) => textOf(content))
        .join('\n'),
    )
  }
  const part = await handover({ EVERLONG_AUTO_COMPACT_WINDOW: '32000' })
  const whole = await handover({})
  expect(part).toBeLessThanOrEqual(0.15 * 32_000)
  expect(whole).toBeGreaterThan(0.15 * 32_000)
})

describe('a model that no table knows', () => {
  /** Waits do not end by themselves. */
  const wait: WorldOptions['wait'] = (_, signal) =>
    new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
  const describing = (answer: () => Promise<never> | undefined, known = 64_000) => {
    let window: number | undefined
    let asked = 0
    const model = scripted(() => 'Done.', { model: 'local' })
    return {
      asks: () => asked,
      model: {
        ...model,
        capabilities: (name: string) => ({ ...model.capabilities(name), ...(window === undefined ? {} : { window }) }),
        describe: async (name: string) => {
          asked++
          await answer()
          window = known
          return { type: 'described', model: name, capabilities: model.capabilities(name) } as const
        },
      },
    }
  }

  test('is asked of the provider before the first request, once', async () => {
    const { model, asks } = describing(() => undefined)
    const world = createTestWorld({ model, wait })
    world.session.add({ role: 'user', content: 'Hello.' })
    await world.session.prepare()
    await world.session.prepare()
    expect([asks(), world.session.explain().contextWindow]).toEqual([1, { value: 64_000, source: 'the provider' }])
  })

  test('is asked about when a session changes to it', async () => {
    const { model, asks } = describing(() => undefined)
    const world = createTestWorld({ wait })
    await world.session.useModel({ client: model, name: 'local' })
    expect([asks(), world.session.explain().contextWindow.value]).toEqual([1, 64_000])
  })

  test('is guessed where the provider cannot say, which is reported', async () => {
    const { model, asks } = describing(() => Promise.reject(new Error('no network')))
    const world = createTestWorld({ model, wait })
    world.session.add({ role: 'user', content: 'Hello.' })
    expect((await world.session.prepare()).type).toBe('ready')
    await world.session.prepare()
    expect([asks(), world.session.explain().contextWindow.value]).toEqual([1, 128_000])
    expect(world.events.filter(({ type }) => type === 'host-code-failed')).toEqual([
      { type: 'host-code-failed', code: 'model', problem: 'no network', sessionId: 'session-1' },
    ])
  })

  test('is not asked about where the host sets the window, or the table knows it', async () => {
    const set = describing(() => undefined)
    const world = createTestWorld({ model: set.model, settings: { contextWindow: 100_000 } })
    world.session.add({ role: 'user', content: 'Hello.' })
    await world.session.prepare()
    const listed = describing(() => undefined)
    const other = createTestWorld({ model: { ...listed.model, model: 'claude-opus-4-5' } })
    other.session.add({ role: 'user', content: 'Hello.' })
    await other.session.prepare()
    expect([set.asks(), listed.asks()]).toEqual([0, 0])
  })
})
