import { describe, expect, test } from 'vitest'
import type { MechanismContext, RunningMechanism } from '../mechanisms/mechanism.ts'
import { noTokens } from '../message/usage.ts'
import { runMechanism } from './ladder.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { createTestWorld, type WorldOptions } from './testing/world.ts'

/** A clock for deadlines: `pass` lets the time of every wait that is under way run out. */
function deadlines() {
  let waiting: (() => void)[] = []
  const wait: NonNullable<WorldOptions['wait']> = (_, signal) =>
    new Promise((resolve) => {
      waiting.push(resolve)
      signal?.addEventListener('abort', resolve, { once: true })
    })
  const pass = async () => {
    const all = waiting
    waiting = []
    for (const end of all) end()
    for (let at = 0; at < 20; at++) await Promise.resolve()
  }
  return { wait, pass }
}

function worldWith(mechanism: RunningMechanism, wait: WorldOptions['wait']) {
  const world = createTestWorld({ ladder: { manual: [mechanism] }, ...(wait ? { wait } : {}) })
  world.session.add({ role: 'user', content: `Mend the parser. ${'some words '.repeat(2_000)}` })
  return world
}

/** Ends when the test says so. */
function held() {
  let end: () => void = () => undefined
  const until = new Promise<void>((resolve) => {
    end = resolve
  })
  return { until, end: () => end() }
}

describe('a mechanism', () => {
  test('that shows no sign of life is given up, and can commit no more', async () => {
    const { wait, pass } = deadlines()
    const { until, end } = held()
    const world = worldWith(plainMechanism('A short summary.', { during: () => until }), wait)
    const running = world.session.compact()
    for (let at = 0; at < 20; at++) await Promise.resolve()
    await pass()
    expect(await running).toMatchObject({ type: 'not-compacted', reason: 'no_summary' })
    const before = world.records()
    end()
    for (let at = 0; at < 50; at++) await Promise.resolve()
    expect(world.records()).toEqual(before)
    expect(world.session.messages()[0]?.origin).toBe('human')
  })

  test('that tells of its progress is given more time', async () => {
    const { wait, pass } = deadlines()
    const { until, end } = held()
    const mechanism = plainMechanism('A short summary.', {
      during: async ({ ports }) => {
        ports.emit({ type: 'compaction-progressed', phase: 'summarizing', keepAlive: true })
        await until
      },
    })
    const world = worldWith(mechanism, wait)
    const running = world.session.compact()
    for (let at = 0; at < 20; at++) await Promise.resolve()
    await pass()
    end()
    expect(await running).toMatchObject({ type: 'compacted', mechanism: 'plain' })
  })

  test('that waits for its turn to commit is given more time', async () => {
    const { wait, pass } = deadlines()
    const { until, end } = held()
    const report = { type: 'compacted', mechanism: 'plain', usage: noTokens, restored: 0 } as const
    const context = {
      ports: { wait, emit: () => undefined },
      commit: async () => {
        await until
        return { type: 'committed' }
      },
    } as unknown as MechanismContext
    const run: RunningMechanism['run'] = async ({ commit }) => (await commit([])) && report
    const running = runMechanism({ name: 'plain', run }, context)
    for (const _ of [1, 2, 3]) await pass()
    end()
    expect(await running).toEqual(report)
  })

  test.each([
    ['says that it failed', () => ({ type: 'failed', reason: 'api_error', why: 'the network' })],
    ['says that it declined', () => ({ type: 'declined', why: 'not today' })],
    ['says something else', () => ({ type: 'whatever' })],
  ])('that committed and then %s has compacted', async (_, result) => {
    const committing = plainMechanism('A short summary.')
    const mechanism: RunningMechanism = {
      name: 'mine',
      run: async (context) => (await committing.run(context)) && (result() as never),
    }
    const world = worldWith(mechanism, undefined)
    expect(await world.session.compact()).toMatchObject({ type: 'compacted', mechanism: 'mine' })
    expect(world.events.filter(({ type }) => type === 'host-code-failed')).toHaveLength(1)
  })

  test('that says it has compacted and committed nothing has failed', async () => {
    const run: RunningMechanism['run'] = async () => ({
      type: 'compacted',
      mechanism: 'mine',
      usage: noTokens,
      restored: 0,
    })
    const world = worldWith({ name: 'mine', run }, undefined)
    expect(await world.session.compact()).toMatchObject({ type: 'not-compacted' })
  })
})
