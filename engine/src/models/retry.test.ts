import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../core/ports/model.ts'
import type { ModelPorts } from './ports.ts'
import { systemPorts } from './ports.ts'
import { defaultRetries, type FailedTry, type RetryPolicy, retryHeaders, withRetries } from './retry.ts'

const done = { type: 'done' } as const
const failed = (more: Partial<FailedTry> = {}): FailedTry => ({
  type: 'try-failed',
  reason: 'transient',
  message: 'Overloaded',
  ...more,
})

type Run = { readonly random?: number; readonly policy?: Partial<RetryPolicy>; readonly takesMs?: number }

/** Plays the outcomes in order, on a clock that only waits and tries advance. */
async function play(outcomes: readonly (FailedTry | typeof done)[], { random = 0, policy, takesMs = 0 }: Run = {}) {
  const waits: number[] = []
  const events: StreamEvent[] = []
  let now = 0
  let tries = 0
  const ports: ModelPorts = {
    now: () => now,
    random: () => random,
    wait: async (milliseconds) => {
      waits.push(milliseconds)
      now += milliseconds
    },
  }
  const attempt = async () => {
    now += takesMs
    return outcomes[Math.min(tries++, outcomes.length - 1)] ?? done
  }
  const onEvent = (event: StreamEvent) => events.push(event)
  const result = await withRetries<typeof done>(attempt, { onEvent, ports, policy: { ...defaultRetries, ...policy } })
  return { result, waits, events, tries }
}

describe('what failed for now', () => {
  test('is sent again, twice, with longer and longer waits, and each time it is told', async () => {
    const { result, waits, events } = await play([failed(), failed(), done])
    expect([result, waits]).toEqual([done, [500, 1_000]])
    expect(events).toEqual([
      { type: 'retrying', attempt: 1, waitMs: 500, why: 'Overloaded' },
      { type: 'retrying', attempt: 2, waitMs: 1_000, why: 'Overloaded' },
    ])
  })

  test('and still fails says how often it was sent', async () => {
    const { result, tries } = await play([failed({ status: 529 })])
    expect(result).toEqual({ type: 'failed', reason: 'transient', message: 'Overloaded', status: 529, tries: 3 })
    expect(tries).toBe(3)
  })

  test('waits as long as the server says', async () => {
    expect((await play([failed({ retryAfterMs: 7_000 }), done])).waits).toEqual([7_000])
  })

  test('is never sent again without a pause, even if the server asks for none', async () => {
    const { waits } = await play([failed({ retryAfterMs: 0 }), failed({ retryAfterMs: 600 }), failed(), done], {
      policy: { retries: 3 },
    })
    expect(waits).toEqual([500, 1_000, 2_000])
  })

  test('is given up when the server wants a longer wait than there is time, and says so', async () => {
    const { result, waits } = await play([failed({ retryAfterMs: 3_600_000 }), done])
    expect(waits).toEqual([])
    expect(result).toMatchObject({ type: 'failed', reason: 'transient', retryAfterMs: 3_600_000, tries: 1 })
  })

  test('is given up when all of it has taken too long', async () => {
    const { tries } = await play([failed()], { policy: { retries: 100, totalMs: 60_000 }, takesMs: 20_000 })
    expect(tries).toBe(3)
  })

  test('leaves a quarter of the wait to chance, and never waits longer than the longest', async () => {
    const policy = { retries: 8 }
    const long = (await play([failed()], { policy })).waits
    const short = (await play([failed()], { policy, random: 0.999 })).waits
    expect(long).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000])
    expect(short).toEqual([375, 750, 1_501, 3_001, 6_002, 6_002, 6_002, 6_002])
  })
})

describe('what would be refused again', () => {
  const final: readonly FailedTry[] = [
    failed({ reason: 'overflow', shouldRetry: true }),
    failed({ reason: 'too-large', status: 413, shouldRetry: true }),
    failed({ reason: 'invalid', status: 400, shouldRetry: true }),
    ...[400, 401, 403, 404, 413].map((status) => failed({ status, shouldRetry: true })),
    failed({ reason: 'refused' }),
    failed({ status: 529, shouldRetry: false }),
  ]
  test.each(final)('is sent once: %j', async (outcome) => {
    expect((await play([outcome, done])).tries).toBe(1)
  })

  test('is sent again where the server asks for it and it is not one of those', async () => {
    expect((await play([failed({ reason: 'invalid', status: 422, shouldRetry: true }), done])).result).toEqual(done)
  })
})

describe('an abort', () => {
  const aborted = (tries: number) => ({ type: 'failed', reason: 'aborted', message: 'aborted', tries })
  const options = { ports: systemPorts, policy: { ...defaultRetries, firstWaitMs: 60_000, maxWaitMs: 60_000 } }

  test('before the first try sends nothing', async () => {
    const signal = AbortSignal.abort()
    const attempt = () => Promise.reject(new Error('sent'))
    expect(await withRetries(attempt, { ...options, signal })).toEqual(aborted(0))
  })

  test('while waiting ends the wait at once', async () => {
    const controller = new AbortController()
    const onEvent = () => controller.abort()
    const attempt = async () => failed()
    expect(await withRetries(attempt, { ...options, onEvent, signal: controller.signal })).toEqual(aborted(1))
  })

  test('during a try is an abort, whatever the try made of it', async () => {
    const controller = new AbortController()
    const attempt = async () => {
      controller.abort()
      return failed({ message: 'terminated' })
    }
    expect(await withRetries(attempt, { ...options, signal: controller.signal })).toEqual(aborted(1))
  })
})

test('headers say when to come again: milliseconds, seconds or a date, and whether at all', () => {
  const read = (headers: Readonly<Record<string, string>>) => retryHeaders((name) => headers[name] ?? null, 1_000_000)
  expect([
    read({ 'retry-after-ms': '1500', 'retry-after': '9' }),
    read({ 'retry-after': '2.5' }),
    read({ 'retry-after': new Date(1_004_000).toUTCString() }),
    read({ 'retry-after': 'soon', 'x-should-retry': 'false' }),
    read({ 'retry-after': '-3', 'x-should-retry': 'true' }),
    read({}),
  ]).toEqual([
    { retryAfterMs: 1_500 },
    { retryAfterMs: 2_500 },
    { retryAfterMs: 4_000 },
    { shouldRetry: false },
    { shouldRetry: true },
    {},
  ])
})
