import { expect, test } from 'vitest'
import { noCacheEdits, withDeleted } from '../cache/cache-watch.ts'
import { Tracker, type Tracking } from './tracking.ts'

/** Keeps what was cached, and that the prefix has changed. */
const changed = { baseline: { cacheRead: 9_000, cached: 9_000, time: 0 }, deletedTokens: 0, isChanged: true }

/** A busy state: asked and refused, all notices shown, with cache edits and snips. */
const busy: Partial<Tracking> = {
  turnId: 'turn-1',
  turns: 4,
  previous: { turnId: 'turn-0', hasHumanSince: false },
  watch: { baseline: { cacheRead: 9_000, cached: 9_000, time: 0 }, deletedTokens: 100 },
  cacheEdits: withDeleted(noCacheEdits, ['t1'], 500),
  isRefused: true,
  isOverheadReported: true,
  freedBySnips: 700,
  state: 'blocking',
}

function after(change: (tracker: Tracker) => void): Tracking {
  const tracker = new Tracker('turn-1', busy)
  change(tracker)
  return tracker.now()
}

test('when a person speaks, what was refused may be asked again and what was said may be said again', () => {
  const { turns: _, ...before } = busy
  expect(after((tracker) => tracker.human('turn-2'))).toMatchObject({
    ...before,
    turnId: 'turn-2',
    previous: { turnId: 'turn-0', hasHumanSince: true },
    isRefused: false,
    isOverheadReported: false,
  })
})

test('after a compaction everything that was counted or edited before it begins again', () => {
  expect(after((tracker) => tracker.compaction('turn-2'))).toMatchObject({
    turnId: 'turn-2',
    turns: 0,
    previous: { turnId: 'turn-1', hasHumanSince: false },
    cacheEdits: noCacheEdits,
    freedBySnips: 0,
    state: 'ok',
  })
})

test('after a compaction, and in another view, nothing is expected of the cache', () => {
  expect(after((tracker) => tracker.compaction('turn-2')).watch).toEqual(changed)
  expect(after((tracker) => tracker.viewChange()).watch).toEqual(changed)
})

test('another view forgets what was deleted from the cache', () => {
  expect(after((tracker) => tracker.viewChange())).toMatchObject({
    ...busy,
    watch: changed,
    cacheEdits: noCacheEdits,
  })
})
