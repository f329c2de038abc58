import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts, situationOf } from '../mechanisms/situation.ts'
import type { ViewMessage } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import { foldEntries, type View } from '../transcript/view/fold.ts'
import { paysToCompact } from './compact.ts'
import { earlyTarget } from './mechanisms.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld } from './testing/world.ts'

const minute = 60_000

/** A conversation after a summary. Each turn is a list of the sizes that its answers reported. */
function viewOf(turns: readonly (readonly number[])[], end: 'person' | 'result' = 'person'): View {
  const message = (role: 'user' | 'assistant', origin: string, more: object = {}) =>
    ({ role, origin, content: [{ type: 'text', text: 'x' }], ...more }) as unknown as ViewMessage
  const answers = (sizes: readonly number[]) =>
    sizes.map((size) => message('assistant', 'assistant', { usage: { ...noTokens, cacheRead: size }, time: minute }))
  const messages = [
    message('user', 'summary'),
    ...turns.flatMap((sizes) => [message('user', 'human'), ...answers(sizes)]),
    message('user', end === 'person' ? 'human' : 'tool-result'),
  ]
  return { ...foldEntries([]), messages }
}

function situationIn(view: View, more: Partial<Situation> = {}): Situation {
  const known = situationOf(view, { now: 2 * minute, model: 'claude-opus-5' })
  const tokens = view.messages.findLast(({ usage }) => usage)?.usage?.cacheRead ?? 0
  const explanation = { ...known.explanation, size: { ...known.explanation.size, tokens } }
  return { ...known, explanation, ...more }
}

const pays = (view: View, more: Partial<Situation> = {}, economy: 'default' | 'thrifty' = 'thrifty') =>
  paysToCompact(view, situationIn(view, more), economy)
const steady = (length: number, { base, growth }: { readonly base: number; readonly growth: number }) =>
  Array.from({ length }, (_, at) => base + growth * at)

/** Number of answers after which it pays with steady growth, if each is its own turn. */
function lengthUntilItPays(pace: { readonly base: number; readonly growth: number }): number {
  let length = 2
  while (!pays(viewOf(steady(length, pace).map((size) => [size])))) length++
  return length
}

/** The average cost of a request if every compaction happens at this size. */
function meanCost(situation: Situation, at: number): number {
  const costs = compactionCosts(situation)
  if (!costs) throw new Error('Too little is known.')
  const { after, fixed, perToken, growth, rent } = costs
  const requests = (at - after) / growth
  return (rent * (at + after)) / 2 + (fixed + perToken * at) / requests
}

describe('a compaction before the threshold', () => {
  test('comes where no other size would have been cheaper', () => {
    const pace = fc.record({
      base: fc.integer({ min: 10_000, max: 40_000 }),
      growth: fc.integer({ min: 1_000, max: 4_000 }),
    })
    fc.assert(
      fc.property(pace, fc.integer({ min: 1, max: 500_000 }), (known, more) => {
        const length = lengthUntilItPays(known)
        const situation = situationIn(viewOf([steady(length, known)]))
        const size = known.base + known.growth * (length - 1)
        expect(meanCost(situation, size)).toBeLessThanOrEqual(meanCost(situation, known.base + more) * 1.05)
      }),
      { numRuns: 30 },
    )
  })

  const pace = { base: 20_000, growth: 1_000 }
  const due = steady(lengthUntilItPays(pace) + 1, pace)

  test('pays between turns, not yet in the middle of one, and there at twice the cost', () => {
    expect(pays(viewOf(due.map((size) => [size])))).toBe(true)
    expect(pays(viewOf([due], 'result'))).toBe(false)
    expect(pays(viewOf([steady(due.length * 2, pace)], 'result'))).toBe(true)
  })

  test('waits by default until carrying has cost twice as much, and in the middle of a turn four times', () => {
    // With steady growth, the tokens carried grow with the square of the length.
    const long = (times: number) => steady(Math.ceil(due.length * times), pace)
    const between = [1, 1.5].map((times) => pays(viewOf(long(times).map((size) => [size])), {}, 'default'))
    const inTurn = [1.5, 2.2].map((times) => pays(viewOf([long(times)], 'result'), {}, 'default'))
    expect([between, inTurn]).toEqual([
      [false, true],
      [false, true],
    ])
  })

  test('waits longer where the summary is asked for without the cache', () => {
    const view = viewOf(due.map((size) => [size]))
    const longer = viewOf(steady(due.length * 3, pace).map((size) => [size]))
    expect([pays(view, { sharesCache: false }), pays(longer, { sharesCache: false })]).toEqual([false, true])
  })

  test('waits where the cache is cold', () => {
    const view = viewOf(due.map((size) => [size]))
    expect(pays(view, { cache: { ...situationIn(view).cache, type: 'cold' } })).toBe(false)
  })

  test('is not made due by what was cleared, nor by what the turn that has ended has read', () => {
    const cleared = due.map(() => [22_000, 60_000])
    expect(pays(viewOf(cleared))).toBe(false)
    expect(pays(viewOf([...cleared, [22_000, 120_000]]))).toBe(false)
  })

  test('never comes while nothing is known of the conversation', () => {
    expect(pays(viewOf([]))).toBe(false)
  })

  test('has room for a whole summary, whatever the size it comes at, and gets below the target of the threshold', () => {
    const view = viewOf([[20_000]])
    const at = (tokens: number, overhead: number) => {
      const known = situationIn(view)
      const explanation = { ...known.explanation, size: { ...known.explanation.size, tokens } }
      return earlyTarget(view, { ...known, explanation }, overhead)
    }
    const { target } = situationIn(view)
    expect([at(30_000, 10_000), at(90_000, 10_000), at(9_000_000, 10_000), at(30_000, 9_000_000)]).toEqual([
      30_667,
      54_000,
      target,
      target,
    ])
  })
})

describe('in a session', () => {
  const grown = async (more: object) => {
    const world = createTestWorld({
      settings: { contextWindow: 200_000, reductions: { microCompact: false }, ...more },
      compaction: [plainMechanism('A summary.')],
    })
    world.session.add({ role: 'user', content: 'Go.' })
    for (let at = 1; at <= 40; at++) {
      await world.session.prepare()
      const usage = { input: 0, output: 10, cacheRead: 8_000 + 3_000 * at, cacheWrite: 0, cacheWriteHour: 0 }
      world.session.record(answerOf(`Answer ${at}.`, { id: `m${at}`, usage }))
      world.session.add({ role: 'user', content: 'More.' })
      if (world.events.some(({ type }) => type === 'compaction-finished')) return { ...world, at }
    }
    return { ...world, at: undefined }
  }

  test('a thrifty one compacts before the threshold, the default later, and the threshold stays where it is', async () => {
    const late = await grown({ economy: 'claude-code' })
    const byDefault = await grown({ economy: 'default' })
    const thrifty = await grown({ economy: 'thrifty' })
    expect(late.at).toBeUndefined()
    expect(thrifty.at).toBeLessThan(30)
    expect(byDefault.at).toBeLessThan(40)
    expect(byDefault.at).toBeGreaterThan(thrifty.at ?? 0)
    const thresholds = [late, byDefault, thrifty].map(({ session }) => session.explain().autoCompactThreshold)
    expect(new Set(thresholds.map(({ value }) => value)).size).toBe(1)
  })

  test.each([
    ['with a threshold of the host', { autoCompactAt: 150_000 }],
    ['where a person is asked', { compaction: 'ask' }],
    ['where automatic compaction is off', { compaction: 'manual' }],
    ['where only a refusal compacts', { compaction: 'reactive' }],
    ['where finished parts are collapsed', { collapse: true }],
  ])('not %s', async (_, more) => {
    const economies = ['default', 'thrifty'] as const
    for (const economy of economies) expect((await grown({ economy, ...more })).at).toBeUndefined()
  })
})
