import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Situation } from '../mechanisms/mechanism.ts'
import { compactionCosts, situationOf } from '../mechanisms/situation.ts'
import { plainRung } from '../session/testing/rungs.ts'
import { answerOf, createTestWorld } from '../session/testing/world.ts'
import { foldEntries, type View } from '../transcript/view/fold.ts'
import { cheapestSize, withEconomy } from './economy.ts'

describe('a thrifty session', () => {
  test('clears as soon as it pays, takes a cold cache for cold, and takes no notes', () => {
    expect(withEconomy({ economy: 'thrifty' })).toEqual({
      economy: 'thrifty',
      sessionMemory: false,
      reductions: {
        microCompact: 'always',
        keepFinished: false,
        clearInputs: true,
        bySize: { target: 10_000 },
        byCacheEdit: { trigger: 6, keep: 8 },
        byIdle: { keep: 3, minutes: 5 },
      },
    })
  })

  test('leaves what the host has set, and an idle hour where the cache is kept for one', () => {
    const set = {
      economy: 'thrifty',
      cacheMarks: '1h',
      sessionMemory: true,
      reductions: { microCompact: false, bySize: { target: 1 }, byCacheEdit: { keep: 9 }, boundThinking: 'remove' },
    } as const
    expect(withEconomy(set)).toEqual({
      ...set,
      reductions: {
        ...set.reductions,
        keepFinished: false,
        clearInputs: true,
        byCacheEdit: { trigger: 6, keep: 9 },
        byIdle: { keep: 3 },
      },
    })
  })

  test('is not what a session is unless told', () => {
    const settings = { autoCompactAt: 50_000 }
    expect(withEconomy(settings)).toBe(settings)
  })
})

const settings = { economy: 'thrifty' } as const
const overhead = 0
const answered = {
  role: 'assistant',
  content: [],
  usage: { input: 0, output: 1, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
} as unknown as View['messages'][number]
const view: View = { ...foldEntries([]), messages: Array.from({ length: 20 }, () => answered) }

function situationWith(known: Partial<Situation>): Situation {
  return { ...situationOf(foldEntries([]), { now: 0, model: 'claude-opus-5' }), isCompacted: true, ...known }
}

/** What a request costs on average when every compaction comes at this size. */
function meanCost(situation: Situation, at: number): number {
  const costs = compactionCosts(situation)
  if (!costs) throw new Error('Too little is known.')
  const { after, fixed, perToken, growth, rent } = costs
  const requests = (at - after) / growth
  return (rent * (at + after)) / 2 + (fixed + perToken * at) / requests
}

describe('the cheapest size', () => {
  test('is cheaper than any other that leaves a compaction room to succeed in', () => {
    const pace = fc.record({
      base: fc.integer({ min: 5_000, max: 80_000 }),
      growth: fc.integer({ min: 100, max: 8_000 }),
      coldShare: fc.double({ min: 0, max: 0.2, noNaN: true }),
    })
    fc.assert(
      fc.property(pace, fc.integer({ min: 1_000, max: 900_000 }), (known, other) => {
        const situation = situationWith(known)
        const size = cheapestSize(view, situation, { settings, overhead, before: undefined }) ?? 0
        const least = (Math.max(known.base, 8_000) * 4) / 3 / 0.6
        const another = Math.max(other, least)
        expect(size).toBeGreaterThanOrEqual(Math.floor(least))
        expect(meanCost(situation, size)).toBeLessThanOrEqual(meanCost(situation, another) * 1.000_01)
      }),
    )
  })

  test('stays where it is while too little is known, and while it would hardly move', () => {
    const known = situationWith({ base: 20_000, growth: 2_000, coldShare: 0.03 })
    const size = cheapestSize(view, known, { settings, overhead, before: undefined }) ?? 0
    const near = Math.round(size * 1.05)
    expect(cheapestSize(view, known, { settings, overhead, before: near })).toBe(near)
    expect(cheapestSize(view, known, { settings, overhead, before: size * 2 })).toBe(size)
    const young = { ...view, messages: view.messages.slice(0, 7) }
    expect(cheapestSize(young, known, { settings, overhead, before: undefined })).toBeUndefined()
    expect(cheapestSize(view, situationWith({}), { settings, overhead, before: 70_000 })).toBe(70_000)
  })
})

test('a compaction is due when carrying what it would drop has cost as much as it will, however it was carried', () => {
  const pace = { base: 20_000, growth: 1_000, coldShare: 0 }
  const costs = compactionCosts(situationWith(pace))
  const price = ((costs?.fixed ?? 0) + (costs?.perToken ?? 0) * 20_000) / (costs?.rent ?? 1)
  const at = (size: number, carried: number) => {
    const explanation = {
      ...situationWith({}).explanation,
      size: { ...situationWith({}).explanation.size, tokens: size },
    }
    const known = situationWith({ ...pace, explanation, carried: { tokens: carried + 10 * 20_000, answers: 10 } })
    return cheapestSize(view, known, { settings, overhead, before: undefined }) ?? 0
  }
  expect(at(60_000, price)).toBe(60_000)
  expect(at(60_000, price * 2)).toBe(60_000)
  expect(at(60_000, price / 2)).toBeGreaterThan(60_000)
  expect(at(60_000, price / 2)).toBeLessThan(at(60_000, 0))
})

test('it leaves room to tell what there is to tell, so that compactions do not come sooner and sooner', () => {
  const known = situationWith({ base: 3_000, growth: 100, coldShare: 0 })
  const size = cheapestSize(view, known, { settings, overhead: 10_000, before: undefined }) ?? 0
  expect(size).toBe(Math.round((18_000 * 4) / 3 / 0.6))
})

describe('in a session', () => {
  const grown = async (more: object) => {
    const world = createTestWorld({
      settings: { contextWindow: 200_000, reductions: { microCompact: false }, ...more },
      compaction: [plainRung('A summary.')],
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

  test('the threshold is the cheapest size, for the gauge and the trigger alike', async () => {
    const usual = await grown({})
    const thrifty = await grown({ economy: 'thrifty' })
    expect(usual.at).toBeUndefined()
    expect(thrifty.at).toBeLessThan(30)
    const gauge = thrifty.session.explain().autoCompactThreshold.value
    expect(gauge).toBeLessThan(usual.session.explain().autoCompactThreshold.value)
    const checked = thrifty.events.findLast((event) => event.type === 'threshold-checked')
    expect(checked).toMatchObject({ threshold: gauge })
  })

  test('a threshold of the host stays', async () => {
    const { session } = await grown({ economy: 'thrifty', autoCompactAt: 150_000 })
    expect(session.explain().autoCompactThreshold.value).toBe(150_000)
  })
})
