// What a conversation would have cost without the gateway, request by request.
import { costOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { type AloneRequest, type AloneState, aloneOf } from './alone.ts'

const model = 'claude-sonnet-4-5'
const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

/** One token of ours is one of the API, unless `scale` says otherwise. */
type Step = Partial<Omit<AloneRequest, 'usage'>> & { readonly usage: Partial<AloneRequest['usage']> }

function after(before: AloneState | undefined, { usage, ...step }: Step) {
  return aloneOf({
    ...{ before, cache: 'hit', model, isNewTurn: false, summary: undefined, overhead: () => 5_000 },
    ...{ asked: 0, sent: 0, ...step, usage: { ...none, ...usage } },
  })
}

test('a request that was not changed would have cost the same', () => {
  const usage = { cacheRead: 30_000, cacheWrite: 1_000, output: 50 }
  const before = { asked: 30_000, size: 30_000 }
  const alone = after(before, { asked: 31_000, sent: 31_000, usage })
  expect(alone).toEqual({
    tokens: 31_000,
    cost: costOf({ ...none, ...usage }, model),
    state: { asked: 31_000, size: 31_000 },
  })
})

test('what was removed counts at the price of a read, in each request that does not carry it', () => {
  let state: AloneState = { asked: 60_000, size: 60_000 }
  let saved = 0
  for (let at = 0; at < 3; at++) {
    const usage = { ...none, cacheRead: 20_000 + 1_000 * at, cacheWrite: 1_000 }
    const alone = after(state, { asked: state.asked + 1_000, sent: 21_000 + 1_000 * at, usage })
    saved += (alone.cost ?? 0) - (costOf(usage, model) ?? 0)
    state = alone.state
  }
  expect(saved).toBeCloseTo(3 * (costOf({ ...none, cacheRead: 40_000 }, model) ?? 0), 9)
})

test.each(['expired', 'first-request', 'prefix-changed', 'not-cached'] as const)(
  'if the cache was missed for a reason of the client (%s), all of it would have been written',
  (cache) => {
    const usage = { cacheWrite: 20_000, cacheWriteHour: 20_000 }
    const { cost } = after({ asked: 60_000, size: 60_000 }, { asked: 61_000, sent: 20_000, usage, cache })
    expect(cost).toBeCloseTo(costOf({ ...none, cacheWrite: 61_000, cacheWriteHour: 61_000 }, model) ?? 0, 9)
  },
)

test('a miss that the gateway caused with a rewrite is its own loss: the request saves less than nothing', () => {
  const usage = { ...none, cacheWrite: 20_000 }
  const { cost = 0 } = after({ asked: 22_000, size: 22_000 }, { asked: 22_100, sent: 20_000, usage, cache: 'unknown' })
  expect(cost - (costOf(usage, model) ?? 0)).toBeLessThan(0)
})

test('without a cache everything is plain input, and without a price for writing so is what is new', () => {
  const before = { asked: 60_000, size: 60_000 }
  const plain = after(before, { asked: 61_000, sent: 20_000, usage: { input: 20_000 }, cache: 'not-cached' })
  expect(plain.cost).toBe(costOf({ ...none, input: 61_000 }, model))
  const usage = { input: 1_000, cacheRead: 19_000 }
  const unwritten = after(before, { asked: 61_000, sent: 20_000, usage })
  expect(unwritten.cost).toBe(costOf({ ...none, input: 1_000, cacheRead: 60_000 }, model))
})

test('the client alone would have compacted at the end of a turn, and saves nothing from before that', () => {
  const before = { asked: 170_000, size: 170_000, summary: 2_000 }
  const usage = { cacheRead: 20_000, cacheWrite: 1_000 }
  const inTurn = after(before, { asked: 171_000, sent: 21_000, usage })
  expect(inTurn.tokens).toBe(171_000)
  const next = after(before, { asked: 171_000, sent: 21_000, usage, isNewTurn: true })
  expect(next.state).toEqual({ asked: 171_000, size: 8_000, summary: 2_000 })
  const asking = costOf({ ...none, cacheRead: 170_000, output: 2_000 }, model) ?? 0
  const sending = costOf({ ...none, cacheRead: 5_000, cacheWrite: 3_000 }, model) ?? 0
  expect(next.cost).toBeCloseTo(asking + sending, 9)
  // From then on its context is the smaller one.
  const later = after(next.state, { asked: 172_000, sent: 22_000, usage: { cacheRead: 21_000, cacheWrite: 1_000 } })
  expect(later.tokens).toBe(9_000)
  expect(later.cost).toBeLessThan(costOf({ ...none, cacheRead: 21_000, cacheWrite: 1_000 }, model) ?? 0)
})

test.each([
  ['in the middle of a turn, if the window is full', { asked: 199_000, size: 199_000 }, false, true],
  ['not at the threshold', { asked: 167_000, size: 167_000 }, true, false],
  ['above the threshold', { asked: 167_001, size: 167_001 }, true, true],
] as const)('when it would have compacted: %s', (_, before, isNewTurn, isCompacted) => {
  const usage = { cacheRead: 20_000, cacheWrite: 1_000 }
  const { tokens } = after(before, { asked: before.asked + 1_000, sent: 21_000, usage, isNewTurn })
  expect(tokens < 100_000).toBe(isCompacted)
})

test('no request is larger than the window: a larger history that comes at once could not have been sent', () => {
  const usage = { cacheWrite: 20_000 }
  expect(after(undefined, { asked: 500_000, sent: 20_000, usage, cache: 'first-request' }).tokens).toBe(200_000)
})

test('a history that the client itself cut is as large as it is', () => {
  const { state } = after(
    { asked: 150_000, size: 150_000 },
    { asked: 8_000, sent: 8_000, usage: { cacheWrite: 8_000 } },
  )
  expect(state).toEqual({ asked: 8_000, size: 8_000 })
})

test('sizes of ours are converted with what the API counted', () => {
  const usage = { cacheRead: 22_000, cacheWrite: 2_200 }
  const { state } = after({ asked: 60_000, size: 66_000 }, { asked: 62_000, sent: 22_000, usage, cache: 'unknown' })
  expect(state).toEqual({ asked: 62_000, size: 68_200 })
})

test('a model without a price has no cost, and its sizes are followed all the same', () => {
  const { cost, tokens } = after({ asked: 10, size: 10 }, { model: 'local', asked: 20, sent: 20, usage: { input: 20 } })
  expect([cost, tokens]).toEqual([undefined, 20])
})
