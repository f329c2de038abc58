import { describe, expect, test } from 'vitest'
import type { MechanismContext, RunningMechanism } from '../mechanisms/mechanism.ts'
import type { ModelFailure } from '../ports/model.ts'
import { failed } from '../ports/outcome.ts'
import type { EngineSettings } from '../settings/table.ts'
import { tryMechanisms } from './mechanisms.ts'
import type { OwnSession } from './session.ts'
import { failingMechanism, only, plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted } from './testing/world.ts'
import {
  afterApplied,
  afterFailure,
  afterHand,
  afterHuman,
  afterRecovery,
  breakerText,
  closedBreaker,
  Tracker,
} from './tracking.ts'

const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
const refused = (message: string): ModelFailure => ({ type: 'failed', reason: 'overflow', message, tries: 1 })

describe('the breaker', () => {
  const rapid = { isRapid: true }

  test('opens at the third failure', () => {
    const twice = afterFailure(afterFailure(closedBreaker))
    expect([twice.isOpen, afterFailure(twice).isOpen]).toEqual([false, true])
  })

  test('opens at the third compaction in a row that came right after the one before', () => {
    const twice = afterApplied(afterApplied(closedBreaker, rapid), rapid)
    expect(twice).toMatchObject({ rapid: 2, isOpen: false })
    expect(afterApplied(twice, rapid)).toMatchObject({ rapid: 3, isOpen: true })
    expect(afterApplied(twice, { isRapid: false })).toEqual(closedBreaker)
  })

  test('that opened for a chain closes when somebody is there; one that opened for failures does not', () => {
    const chained = afterApplied(afterApplied(afterApplied(closedBreaker, rapid), rapid), rapid)
    expect([afterHuman(chained).isOpen, afterHand(chained).isOpen]).toEqual([false, false])
    // When it opens again, a refused prompt is compacted once more.
    expect(afterHuman(afterApplied(afterRecovery(chained), rapid))).toEqual(closedBreaker)
    const failed = afterFailure(afterFailure(afterFailure(closedBreaker)))
    expect(afterHuman(failed)).toEqual(failed)
  })
})

test('a compaction forgets what was deleted from the cached prefix', () => {
  const tracker = new Tracker('one')
  tracker.delegate({ cacheEdits: [{ type: 'delete', cache_reference: 't1' }] }, 9_000)
  expect(tracker.now().cacheEdits).toMatchObject({ deleted: ['t1'] })
  tracker.compaction('two')
  expect(tracker.now().cacheEdits).toEqual({ deleted: [] })
})

test('a veto ends the list: the mechanisms after it are not asked', async () => {
  const ran: string[] = []
  const mechanism = (name: string, result: Awaited<ReturnType<RunningMechanism['run']>>): RunningMechanism => ({
    name,
    run: async () => {
      ran.push(name)
      return result
    },
  })
  const { ports } = createTestWorld().runtime
  const ended = await tryMechanisms(
    [mechanism('first', failed('vetoed', 'no')), mechanism('second', { type: 'declined', reason: 'not-now', why: '' })],
    { context: { ports } as MechanismContext, apply: (found) => found },
  )
  expect([ran, ended]).toMatchObject([['first'], { type: 'failed', reason: 'vetoed' }])
})

describe('when the provider refuses a prompt', () => {
  const full = (options: Parameters<typeof createTestWorld>[0]) => {
    const world = createTestWorld({ settings: { ...small, reductions: { microCompact: false } }, ...options })
    world.session.add({ role: 'user', content: 'Never touch the database.' })
    world.session.record(answerOf(words(3_000), { id: 'msg_1', usage: usage(24_000) }))
    return world
  }

  test('it is compacted once although the breaker is open, and not again while it stays open', async () => {
    const world = full({
      compaction: [failingMechanism('one'), failingMechanism('two')],
    })
    for (let at = 0; at < 3; at++) await world.session.prepare()
    expect(world.session.tracking().breaker).toMatchObject({ isOpen: true, hasRecovered: false })
    const first = await world.session.recover(refused('too long'))
    expect(first.steps.map(({ mechanism }) => mechanism)).toContain('two')
    const second = await world.session.recover(refused('too long'))
    expect(second.steps.at(-1)).toMatchObject({ mechanism: 'compact', outcome: 'declined' })
  })

  test('a compaction that works closes it', async () => {
    const world = full({
      compaction: [only('overflow', plainMechanism('In short.'))],
    })
    for (let at = 0; at < 3; at++) await world.session.prepare()
    expect(await world.session.recover(refused('too long'))).toMatchObject({ type: 'recovered' })
    expect(world.session.tracking().breaker.isOpen).toBe(false)
  })

  test('and refuses it again, its first words are the ones that are told', async () => {
    const model = scripted((_, count) => refused(count === 1 ? 'first' : 'second'))
    const world = full({
      compaction: [plainMechanism('In short.')],
      model,
      settings: { ...small, compaction: 'reactive' },
    })
    const turn = await world.session.send()
    expect([turn.type, model.requests.length, turn.type === 'failed' && turn.failure.message]).toEqual([
      'failed',
      2,
      'first',
    ])
  })
})

describe('compactions that follow one another at once', () => {
  const reduced = { ...small, reductions: { microCompact: false } } as const
  const opened = { type: 'breaker-tripped', failures: 3, sessionId: 'session-1' }

  /** Rounds without a person. */
  async function rounds(
    settings: EngineSettings,
    compact: (session: OwnSession) => Promise<readonly string[]>,
    count = 5,
  ) {
    const world = createTestWorld({ settings, compaction: [plainMechanism('In short.')] })
    world.session.add({ role: 'user', content: 'Go on until it is done.' })
    const notices: string[] = []
    for (let at = 0; at < count; at++) {
      world.session.record(answerOf(words(3_000), { id: `msg_${at}`, usage: usage(15_000) }))
      world.session.add({ role: 'user', content: 'Go on.', origin: 'meta' })
      notices.push(...(await compact(world.session)))
    }
    const finished = world.events.filter(({ type }) => type === 'compaction-finished').length
    return { finished, tripped: world.events.filter(({ type }) => type === 'breaker-tripped'), notices }
  }

  test('open the breaker when they were prepared in the background, and it is reported once', async () => {
    const { finished, tripped, notices } = await rounds({ ...reduced, background: { from: 0.5 } }, async (session) => {
      const before = await session.prepare()
      // The summary is ready, and the next request uses it.
      await new Promise((resolve) => setTimeout(resolve))
      const { notices } = await session.prepare()
      return [...before.notices, ...notices]
    })
    expect(finished).toBe(4)
    expect(tripped).toEqual([opened])
    expect(notices).toEqual([breakerText])
  })

  test('open it when they answered refused prompts', async () => {
    const { finished, tripped, notices } = await rounds({ ...reduced, compaction: 'reactive' }, async (session) => {
      const recovery = await session.recover(refused('too long'))
      return recovery.type === 'recovered' ? (recovery.compaction?.notices ?? []) : []
    })
    // Even with the breaker open, because the conversation would otherwise be stuck.
    expect(finished).toBe(5)
    expect(tripped).toEqual([opened])
    expect(notices).toEqual([breakerText])
  })

  test('are not continued for refused prompts: one more is allowed while the breaker is open', async () => {
    const recover = async (session: OwnSession) => [(await session.recover(refused('too long'))).type]
    const { finished, notices: types } = await rounds({ ...reduced, compaction: 'reactive' }, recover, 7)
    expect(finished).toBe(5)
    expect(types.slice(4)).toEqual(['recovered', 'unrecovered', 'unrecovered'])
  })

  test('leave it closed when a person asked for them', async () => {
    const { finished, tripped, notices } = await rounds(reduced, async (session) => {
      const compacted = await session.compact()
      return compacted.type === 'compacted' ? compacted.notices : []
    })
    expect({ finished, tripped, notices }).toEqual({ finished: 5, tripped: [], notices: [] })
  })
})
