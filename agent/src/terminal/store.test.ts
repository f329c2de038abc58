import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { firstState } from './state/state.ts'
import { createStore } from './store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('many changes in a row are reported once, later ones again, and none after unsubscribing', () => {
  const store = createStore(firstState)
  let told = 0
  const stop = store.subscribe(() => void told++)
  const change = () => store.update((state) => ({ ...state }))
  const counts: number[] = []
  const count = () => {
    vi.runAllTimers()
    counts.push(told)
  }
  change()
  change()
  counts.push(told)
  count()
  change()
  count()
  store.update((state) => ({ ...state }), 'now')
  counts.push(told)
  // A change that is told at once takes the waiting one with it, and no change tells nothing.
  change()
  store.update((state) => ({ ...state }), 'now')
  store.update((state) => state, 'now')
  count()
  stop()
  change()
  count()
  expect(counts).toEqual([0, 1, 2, 3, 4, 4])
})
