// What a stop does with exchanges that are not written yet.
import { StoreError } from 'everlong'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkConfig } from '../config/load.ts'
import { watchStore } from '../state/health.ts'
import { noTrace } from '../telemetry/telemetry.ts'
import type { Passed } from './passed.ts'
import { createRecorder } from './recorder.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const away = () => new StoreError('The database is restarting.', { reason: 'unavailable' })

/** A recorder over a store that can be taken away. `write` is called before each exchange is stored. */
function recording({ write = async () => undefined }: { readonly write?: () => Promise<void> } = {}) {
  const written: string[] = []
  const log: (readonly unknown[])[] = []
  const store = { isAway: false }
  const health = watchStore({
    probe: async () => {
      if (store.isAway) throw away()
    },
    log: (level, event, facts) => void log.push([level, event, facts?.why]),
  })
  const recorder = createRecorder({
    ...{ config: checkConfig({ limits: { storeMs: 5_000 } }, 'the test'), health, concurrency: 2 },
    log: (level, event, facts) => void log.push([level, event, facts?.why]),
    record: async ({ id }) => {
      await write()
      if (store.isAway) throw away()
      written.push(id)
    },
  })
  const add = (...ids: readonly string[]) => {
    for (const id of ids) {
      const passed = {
        id,
        caller: { tenant: 't' },
        bytes: Buffer.from(id),
        forwarded: { bytes: undefined },
        trace: noTrace,
      }
      recorder.add(passed as unknown as Passed)
    }
  }
  return { recorder, add, written, log, store, health }
}

/** Whether the promise has resolved yet. */
function watched(promise: Promise<void>) {
  const state = { isDone: false }
  void promise.then(() => {
    state.isDone = true
  })
  return state
}

describe('a session that another writer has', () => {
  const taken = (failures: number) => {
    let tries = 0
    const made = recording({
      write: async () => {
        if (++tries <= failures) throw new StoreError('Another gateway writes it.', { reason: 'held' })
      },
    })
    return { ...made, tries: () => tries }
  }

  test.each([
    [3, 4, ['one'], []],
    [4, 4, [], [['error', 'not-recorded', 'Another gateway writes it.']]],
  ])('that fails %d times is tried %d times', async (failures, expected, stored, told) => {
    const { recorder, add, tries, written, log, health } = taken(failures)
    add('one')
    await vi.advanceTimersByTimeAsync(10_000)
    expect([tries(), written, log, recorder.waiting()]).toEqual([expected, stored, told, 0])
    health.close()
  })
})

describe('a stop', () => {
  test('writes what waits for a store that returns', async () => {
    const { recorder, add, written, store, log, health } = recording()
    store.isAway = true
    add('one', 'two', 'three')
    await vi.advanceTimersByTimeAsync(0)
    const closing = watched(recorder.close())
    await vi.advanceTimersByTimeAsync(4_000)
    expect([closing.isDone, written]).toEqual([false, []])
    store.isAway = false
    await vi.advanceTimersByTimeAsync(300)
    expect([closing.isDone, written.toSorted(), recorder.waiting()]).toEqual([true, ['one', 'three', 'two'], 0])
    expect(log.map(([, event]) => event)).toEqual(['store-away', 'store-returned'])
    health.close()
  })

  test('writes what failed once during the stop, and everything after it', async () => {
    let failures = 1
    const { recorder, add, written, log, health } = recording({
      write: async () => {
        if (failures-- > 0) throw away()
      },
    })
    add('one', 'two', 'three', 'four')
    const closing = watched(recorder.close())
    await vi.advanceTimersByTimeAsync(300)
    expect([closing.isDone, written.toSorted()]).toEqual([true, ['four', 'one', 'three', 'two']])
    expect(log.filter(([, event]) => event === 'not-recorded')).toEqual([])
    health.close()
  })

  test('gives up at its limit, not before, and logs each exchange as an error', async () => {
    const { recorder, add, written, store, log, health } = recording()
    store.isAway = true
    add('one', 'two', 'three')
    const closing = watched(recorder.close())
    await vi.advanceTimersByTimeAsync(4_999)
    expect([closing.isDone, recorder.waiting()]).toEqual([false, 3])
    await vi.advanceTimersByTimeAsync(1)
    expect([closing.isDone, recorder.waiting(), written]).toEqual([true, 0, []])
    expect(log.filter(([, event]) => event === 'not-recorded')).toEqual(
      Array(3).fill(['error', 'not-recorded', 'The gateway stops while the store is away.']),
    )
    health.close()
  })

  test('does not wait for the limit when there is nothing to write', async () => {
    const { recorder, store, health } = recording()
    store.isAway = true
    health.failed('The database is restarting.')
    const closing = watched(recorder.close())
    await vi.advanceTimersByTimeAsync(0)
    expect(closing.isDone).toBe(true)
    expect(vi.getTimerCount()).toBe(1)
    health.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('continues after its limit as long as the store can be used', async () => {
    const { recorder, add, written, health } = recording({
      write: () => new Promise((done) => setTimeout(done, 3_000)),
    })
    add('one', 'two', 'three', 'four', 'five')
    const closing = watched(recorder.close())
    await vi.advanceTimersByTimeAsync(8_999)
    expect([closing.isDone, written]).toEqual([false, ['one', 'two', 'three', 'four']])
    await vi.advanceTimersByTimeAsync(1)
    expect([closing.isDone, written]).toEqual([true, ['one', 'two', 'three', 'four', 'five']])
    health.close()
  })
})
