// After a person undid a compaction, the next one waits until it is necessary.
import { describe, expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import type { EngineSettings } from '../settings/table.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, memoryStore, type World, type WorldOptions } from './testing/world.ts'

const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
  reductions: { microCompact: false },
}
const compaction = [plainMechanism('In short.')]
const undone = { type: 'undone', change: { type: 'compaction' } }

/** One more turn. Its answer reports `input` tokens. */
function grow({ session }: Pick<World, 'session'>, input: number): void {
  session.add({ role: 'user', content: 'Go.' })
  session.record(answerOf('lorem ipsum '.repeat(50), { id: `msg_${input}`, usage: { ...noTokens, input } }))
}

async function hasCompacted({ session }: Pick<World, 'session'>): Promise<boolean> {
  session.add({ role: 'user', content: 'And now?' })
  const prepared = await session.prepare()
  session.abandonRequest()
  return prepared.compaction !== undefined
}

function limitOf({ session }: Pick<World, 'session'>) {
  const { autoCompact, autoCompactThreshold, limit, isAboveThreshold } = session.explain()
  return { ...autoCompact, at: autoCompactThreshold, limit: limit.value, isAboveThreshold }
}

const normal = {
  mode: true,
  source: 'default',
  at: { value: 23_000, source: 'setting autoCompactAt' },
  limit: 23_000,
  isAboveThreshold: false,
}
const heldBack = {
  ...normal,
  heldBackFrom: 23_000,
  at: { value: 33_000, source: 'the blocking limit, because the last compaction was undone' },
  limit: 33_000,
}

/** A session at its threshold whose automatic compaction was undone. */
async function held(options: WorldOptions = {}): Promise<World> {
  const world = createTestWorld({ settings: small, compaction, ...options })
  grow(world, 24_000)
  expect(await hasCompacted(world)).toBe(true)
  expect(await world.session.undo()).toMatchObject(undone)
  return world
}

describe('after an undone compaction', () => {
  test('the next one comes at the blocking limit, explain() says so, and then the threshold holds again', async () => {
    const world = await held()
    expect(limitOf(world)).toEqual(heldBack)
    expect([await hasCompacted(world), await hasCompacted(world)]).toEqual([false, false])
    grow(world, 32_000)
    expect(await hasCompacted(world)).toBe(false)
    grow(world, 33_000)
    expect(await hasCompacted(world)).toBe(true)
    expect(limitOf(world)).toEqual(normal)
    grow(world, 24_000)
    expect(await hasCompacted(world)).toBe(true)
  })

  test.each([
    [-1, false],
    [0, true],
  ])('%i tokens from the blocking limit: compacts: %s', async (distance, compacts) => {
    const measured = await held()
    grow(measured, 10_000)
    measured.session.add({ role: 'user', content: 'And now?' })
    const added = measured.session.explain().size.tokens - 10_000
    const world = await held()
    grow(world, 33_000 - added + distance)
    expect(await hasCompacted(world)).toBe(compacts)
  })

  test('a compaction by hand, or a cleared context, ends the wait', async () => {
    const world = await held()
    expect((await world.session.compact()).type).toBe('compacted')
    expect(limitOf(world)).toEqual(normal)
    expect(await world.session.undo()).toMatchObject(undone)
    expect(limitOf(world)).toEqual(heldBack)
    await world.session.clear()
    world.session.add({ role: 'user', content: 'Something else.' })
    expect(limitOf(world)).toEqual(normal)
    expect(await world.session.undo()).toMatchObject(undone)
    expect(limitOf(world)).toEqual(heldBack)
  })

  test('a compaction that was asked for is made', async () => {
    const world = await held()
    expect(world.session.scheduleCompaction()).toMatchObject({ isScheduled: true })
    expect(await hasCompacted(world)).toBe(true)
    expect(limitOf(world)).toEqual(normal)
  })

  test('a prompt that the provider refuses is compacted', async () => {
    const { session } = await held()
    const overflow = { actual: 41_000, limit: 40_000 }
    const failure = { type: 'failed', reason: 'overflow', message: 'too long', tries: 1, overflow } as const
    expect(await session.recover(failure)).toMatchObject({ type: 'recovered', compaction: { type: 'compacted' } })
  })

  test('none is prepared in the background', async () => {
    const world = await held({ settings: { ...small, background: true } })
    grow(world, 32_000)
    expect([await hasCompacted(world), await hasCompacted(world)]).toEqual([false, false])
  })

  test('a session that is opened again still waits', async () => {
    const store = memoryStore()
    await held({ store })
    const again = createTestWorld({ settings: small, compaction, store })
    expect(limitOf(again)).toEqual(heldBack)
    expect(await hasCompacted(again)).toBe(false)
  })

  test('it still waits when the conversation goes back to before that compaction', async () => {
    const world = await held()
    const [first] = world.session.messages()
    await world.session.rewind(first?.uuid ?? '')
    expect(limitOf(world)).toEqual(heldBack)
  })

  test('it gets as far below the threshold as any other', async () => {
    const tooLong = plainMechanism(({ trigger }) => (trigger === 'manual' ? 'Short.' : 'lorem ipsum '.repeat(6_400)))
    const world = createTestWorld({ settings: small, compaction: [tooLong] })
    grow(world, 24_000)
    await world.session.compact()
    await world.session.undo()
    grow(world, 33_000)
    const { target } = world.runtime.gauge.situation()
    expect(target).toBe(Math.floor(23_000 * 0.6))
    expect(await hasCompacted(world)).toBe(false)
  })

  test('with automatic compaction off, nothing is held back', async () => {
    const world = createTestWorld({ settings: { ...small, compaction: 'manual' }, compaction })
    grow(world, 24_000)
    await world.session.compact()
    await world.session.undo()
    expect(world.session.explain().autoCompact).toEqual({ mode: false, source: 'setting compaction' })
  })
})

test('an undone clear, and half a compaction that was removed at opening, hold nothing back', async () => {
  const world = createTestWorld({ settings: small, compaction })
  grow(world, 22_000)
  await world.session.clear()
  await world.session.undo()
  expect(limitOf(world)).toEqual(normal)
  const torn = { type: 'undo', uuid: '', mechanism: 'open' } as const
  const { conversation } = world.runtime
  await world.session.compact()
  const boundary = world.records().findLast(({ subtype }) => subtype === 'compact_boundary')
  conversation.edit([{ ...torn, uuid: String(boundary?.uuid) }])
  expect(limitOf(world)).toEqual(normal)
})

test.each(['default', 'thrifty'] as const)(
  'a lower price is no reason to compact again: economy %s',
  async (economy) => {
    const settings: EngineSettings = { contextWindow: 200_000, reductions: { microCompact: false }, economy }
    const world = createTestWorld({ settings, compaction })
    const compactedAt: number[] = []
    for (let at = 1; at <= 50; at++) {
      if (await hasCompacted(world)) {
        compactedAt.push(at)
        if (compactedAt.length === 1) await world.session.undo()
      }
      const usage = { ...noTokens, output: 10, cacheRead: 8_000 + 3_000 * at }
      world.session.record(answerOf(`Answer ${at}.`, { id: `m${at}`, usage }))
    }
    expect(compactedAt).toHaveLength(1)
    expect(world.session.explain().size.tokens).toBeGreaterThan(150_000)
  },
)
