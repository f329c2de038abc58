// What one conversation remembers besides its transcript: turns, breaker, chain, cache watch. A value, and functions
// from one value to the next; each sub-agent has its own.
import { afterCompaction, type CacheWatch, freshWatch } from '../cache/break-detector.ts'
import { type CacheEditState, noCacheEdits, withDeleted } from '../cache/edit-state.ts'
import {
  afterApplied,
  afterChange,
  afterFailure,
  afterHand,
  afterHuman,
  afterRecovery,
  type Breaker,
  closedBreaker,
  fewAnswers,
} from '../ladder/breaker.ts'
import type { ChainInfo } from '../ports/events.ts'
import type { QuerySource } from '../ports/model.ts'
import type { ContextState } from '../tokens/explain.ts'

export type Tracking = {
  /** Of the turn under way: a new one after each compaction and each human message. */
  readonly turnId: string
  /** Answers since the last compaction. */
  readonly turns: number
  readonly breaker: Breaker
  /** The compaction before, and whether a person has spoken since. */
  readonly previous?: { readonly turnId: string; readonly hasHumanSince: boolean }
  readonly watch: CacheWatch
  readonly cacheEdits: CacheEditState
  /** In ask mode: the host was asked and said no, or nothing. Asked again after the next human message. */
  readonly isRefused: boolean
  /** That the overhead alone is over the threshold has been said. */
  readonly isOverheadSaid: boolean
  /** Since the newest answer. */
  readonly freedBySnips: number
  /** How often the view was changed other than by what was said: an answer to a request from before is outdated. */
  readonly changes: number
  /** As last told, so that a crossing is told once. */
  readonly state: ContextState
}

export function newTracking(turnId: string): Tracking {
  return {
    turnId,
    turns: 0,
    breaker: closedBreaker,
    watch: freshWatch,
    cacheEdits: noCacheEdits,
    isRefused: false,
    isOverheadSaid: false,
    freedBySnips: 0,
    changes: 0,
    state: 'ok',
  }
}

export function withHuman(tracking: Tracking, turnId: string): Tracking {
  const { previous } = tracking
  return {
    ...tracking,
    turnId,
    breaker: afterHuman(tracking.breaker),
    ...(previous ? { previous: { ...previous, hasHumanSince: true } } : {}),
    isRefused: false,
    isOverheadSaid: false,
  }
}

/** A compaction was applied, whichever path it took: counters begin again, and no cached prefix is expected. */
export function withCompaction(
  tracking: Tracking,
  { turnId, isBelowTarget }: { readonly turnId: string; readonly isBelowTarget: boolean },
): Tracking {
  const isChained = tracking.previous?.hasHumanSince === false
  return {
    ...tracking,
    turnId,
    turns: 0,
    breaker: afterApplied(tracking.breaker, { isBelowTarget, isChained, isRapid: tracking.turns <= fewAnswers }),
    previous: { turnId: tracking.turnId, hasHumanSince: false },
    watch: afterCompaction(tracking.watch),
    cacheEdits: noCacheEdits,
    freedBySnips: 0,
    changes: tracking.changes + 1,
    state: 'ok',
  }
}

/** What it reports is the size with all that was snipped before it. */
export function withAnswer(tracking: Tracking): Tracking {
  return { ...tracking, turns: tracking.turns + 1, freedBySnips: 0 }
}

export function withFailure(tracking: Tracking): Tracking {
  return { ...tracking, breaker: afterFailure(tracking.breaker) }
}

/** The view was changed by other means (edits, an undo, a rewind): the prefix is another one. */
export function withViewChange(tracking: Tracking): Tracking {
  const { watch, changes } = tracking
  return { ...tracking, watch: afterCompaction(watch), cacheEdits: noCacheEdits, changes: changes + 1 }
}

/** The provider leaves these out from now on. `isRewritten`: it does so by writing the prefix anew. */
export function withLeftOut(
  tracking: Tracking,
  toolUseIds: readonly string[],
  { isRewritten, freed }: { readonly isRewritten: boolean; readonly freed: number },
): Tracking {
  const { watch, cacheEdits } = tracking
  return {
    ...tracking,
    cacheEdits: withDeleted(cacheEdits, toolUseIds, freed),
    ...(isRewritten ? { watch: afterCompaction(watch) } : {}),
  }
}

/** A person did something about the cause. */
export function withChange(tracking: Tracking): Tracking {
  return { ...tracking, breaker: afterChange(tracking.breaker) }
}

/** A person compacted by hand. */
export function withHandCompaction(tracking: Tracking): Tracking {
  return { ...tracking, breaker: afterHand(tracking.breaker) }
}

/** The provider refused a prompt, and it is compacted whether the breaker is open or not. */
export function withRecovery(tracking: Tracking): Tracking {
  return { ...tracking, breaker: afterRecovery(tracking.breaker) }
}

export function chainOf(
  { previous, turns }: Tracking,
  { threshold, source }: { readonly threshold: number; readonly source: QuerySource },
): ChainInfo {
  if (!previous) return { isRecompaction: false, threshold, source }
  return {
    isRecompaction: !previous.hasHumanSince,
    turnsSincePrevious: turns,
    previousTurnId: previous.turnId,
    threshold,
    source,
  }
}
