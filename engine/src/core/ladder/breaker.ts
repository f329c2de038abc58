// The circuit breaker of automatic compaction: a value that belongs to one conversation. It counts attempts that came to
// nothing and says when to stop trying; it never stops a person.

export type Breaker = {
  /** Attempts in a row that failed or freed too little. */
  readonly failures: number
  /** Compactions in a row that were applied and did not get below the target, without a human message between them. */
  readonly overTarget: number
  /** Something was changed since: a snip, another model, a compaction by hand. The next human message counts on it. */
  readonly isChanged: boolean
  readonly isOpen: boolean
}

export const closedBreaker: Breaker = { failures: 0, overTarget: 0, isChanged: false, isOpen: false }

export const mostFailures = 3
const mostOverTarget = 2

export function afterFailure(breaker: Breaker): Breaker {
  const failures = breaker.failures + 1
  return { ...breaker, failures, isOpen: breaker.isOpen || failures >= mostFailures }
}

/** After a compaction that was applied. */
export function afterApplied(
  breaker: Breaker,
  { isBelowTarget, isChained }: { readonly isBelowTarget: boolean; readonly isChained: boolean },
): Breaker {
  if (isBelowTarget) return closedBreaker
  const overTarget = isChained ? breaker.overTarget + 1 : 1
  return { ...breaker, overTarget, isOpen: breaker.isOpen || overTarget >= mostOverTarget }
}

export function afterChange(breaker: Breaker): Breaker {
  return breaker.isChanged || breaker.failures + breaker.overTarget === 0 ? breaker : { ...breaker, isChanged: true }
}

/** A person spoke. That alone changes nothing about the cause; after a change it is worth another try. */
export function afterHuman(breaker: Breaker): Breaker {
  return breaker.isChanged ? closedBreaker : breaker
}
