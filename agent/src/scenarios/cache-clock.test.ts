// The cache clock against the simulated API, whose cache expires by a clock that the test turns.
import { text, turnableClock } from '@everlong/simulator'
import type { EngineEvent, EngineSettings } from 'everlong'
import { expect, test } from 'vitest'
import { prose } from '../testing/history.ts'
import { type Stage, setStage } from '../testing/stage.ts'

const minute = 60_000

async function start(settings: EngineSettings = {}) {
  const clock = turnableClock()
  const engine = { settings: { sessionMemory: false, ...settings }, ports: { now: () => clock.now() } }
  const stage = await setStage({ script: () => text('Here you are.'), simulator: { clock }, engine })
  const session = await stage.engine.start({ maxTokens: 1_000, system: prose(8_000, 1) })
  /** What the simulator charged for the turn. */
  const turn = async (pause = 0) => {
    clock.turn(pause)
    const before = stage.simulator.meter.totals().cost
    session.add({ role: 'user', content: prose(4_000, 2) })
    expect(await session.send()).toMatchObject({ type: 'answered' })
    return stage.simulator.meter.totals().cost - before
  }
  return { stage, session, turn }
}

const told = <T extends EngineEvent['type']>({ events }: Stage, type: T) =>
  events.filter((event): event is Extract<EngineEvent, { readonly type: T }> => event.type === type)

test('a pause longer than the cache lives is announced with its price, and explains the miss', async () => {
  const { stage, session, turn } = await start()
  await turn()
  const warm = await turn(4 * minute)
  expect(told(stage, 'cache-cold')).toEqual([])
  const cold = await turn(17 * minute)
  const [event] = told(stage, 'cache-cold')
  expect(event?.expiredMs).toBe(12 * minute)
  // Output is not in it, and the size is an estimate.
  expect((event?.cost ?? 0) / cold).toBeGreaterThan(0.9)
  expect((event?.cost ?? 0) / cold).toBeLessThan(1.1)
  expect(event?.warmCost ?? 0).toBeLessThan(warm)
  const [, missed, ...more] = told(stage, 'cache-missed')
  expect(missed).toMatchObject({ reason: 'expired', why: 'the cache expired after 5 minutes' })
  expect(more).toEqual([])
  // The miss costs what the simulator charged more than for the turn before.
  expect((missed?.cost ?? 0) / (cold - warm)).toBeGreaterThan(0.9)
  expect((missed?.cost ?? 0) / (cold - warm)).toBeLessThan(1.1)
  expect(session.spent().turn).toMatchObject({ requests: 3, cache: { 'first-request': 1, hit: 1, expired: 1 } })
  await session.close()
})

test('marks of an hour outlast the same pause', async () => {
  const { stage, session, turn } = await start({ cacheMarks: '1h' })
  await turn()
  await turn(17 * minute)
  await turn(61 * minute)
  expect(told(stage, 'cache-cold')).toMatchObject([{ expiredMs: minute }])
  expect(session.spent().turn.cache).toMatchObject({ 'first-request': 1, hit: 1, expired: 1, unknown: 0 })
  await session.close()
})

test('what Everlong changes is no unknown miss', async () => {
  const { session, turn } = await start()
  for (let turns = 0; turns < 12; turns++) await turn()
  expect(await session.compact()).toMatchObject({ type: 'compacted' })
  await turn()
  session.configure({ system: prose(20_000, 9) })
  await turn()
  const { requests, cache } = session.spent().turn
  expect(cache).toMatchObject({ unknown: 0, expired: 0, 'first-request': 1 })
  expect(cache['prefix-changed']).toBeGreaterThanOrEqual(1)
  expect(Object.values(cache).reduce((sum, count) => sum + count, 0)).toBe(requests)
  await session.close()
})
