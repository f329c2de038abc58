// The circuit breaker of automatic compaction: a value that belongs to one conversation. It counts attempts that came to
// nothing and says when to stop trying; it never stops a person.

export type Breaker = {
  /** Attempts in a row that failed or freed too little. */
  readonly failures: number
  /** Compactions in a row that were applied and did not get below the target, without a human message between them. */
  readonly overTarget: number
  /** Compactions in a row that came right after the one before, without a human message between them. */
  readonly rapid: number
  /** Something was changed since: a snip, another model, other tools, a compaction by hand. The next human message counts on it. */
  readonly isChanged: boolean
  readonly isOpen: boolean
  /** Open, and a refused prompt was compacted all the same: that is done once. */
  readonly hasRecovered: boolean
}

export const closedBreaker: Breaker = {
  failures: 0,
  overTarget: 0,
  rapid: 0,
  isChanged: false,
  isOpen: false,
  hasRecovered: false,
}

export const mostFailures = 3
const mostOverTarget = 2
const mostRapid = 3
/** A context that is full again after so few answers was not made smaller to any purpose. */
export const fewAnswers = 2

export function afterFailure(breaker: Breaker): Breaker {
  const failures = breaker.failures + 1
  return { ...breaker, failures, isOpen: breaker.isOpen || failures >= mostFailures }
}

export type Applied = {
  readonly isBelowTarget: boolean
  /** No human message since the compaction before. */
  readonly isChained: boolean
  /** Hardly an answer since. */
  readonly isRapid: boolean
}

/** After a compaction that was applied. */
export function afterApplied(breaker: Breaker, { isBelowTarget, isChained, isRapid }: Applied): Breaker {
  const rapid = isChained && isRapid ? breaker.rapid + 1 : 0
  if (isBelowTarget) return { ...closedBreaker, rapid, isOpen: rapid >= mostRapid }
  const overTarget = isChained ? breaker.overTarget + 1 : 1
  const isOpen = breaker.isOpen || overTarget >= mostOverTarget || rapid >= mostRapid
  return { ...breaker, overTarget, rapid, isOpen }
}

/** A compaction by hand was applied. */
export function afterHand(breaker: Breaker): Breaker {
  return afterChange(unchained(breaker))
}

/** Somebody is there: what opened it only because compactions followed one another unwatched is over. */
function unchained(breaker: Breaker): Breaker {
  const isOpen = breaker.failures >= mostFailures || breaker.overTarget >= mostOverTarget
  return { ...breaker, rapid: 0, isOpen: breaker.isOpen && isOpen }
}

export function afterChange(breaker: Breaker): Breaker {
  return breaker.isChanged || inARow(breaker) === 0 ? breaker : { ...breaker, isChanged: true }
}

/** A person spoke. That alone changes nothing about the cause of failures; after a change it is worth another try. */
export function afterHuman(breaker: Breaker): Breaker {
  return breaker.isChanged ? closedBreaker : unchained(breaker)
}

/** A prompt was refused while it is open: without a compaction the conversation would be stuck. */
export function afterRecovery(breaker: Breaker): Breaker {
  return breaker.isOpen ? { ...breaker, hasRecovered: true } : breaker
}

/** Attempts that came to nothing, of the kind that there are most of. */
export function inARow({ failures, overTarget, rapid }: Breaker): number {
  return Math.max(failures, overTarget, rapid)
}
