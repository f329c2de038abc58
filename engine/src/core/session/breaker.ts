// The circuit breaker of automatic compaction, for one conversation. It counts attempts without progress and says when to
// stop trying. It never stops a person.

export type Breaker = {
  /** Attempts in a row that failed or freed too little. */
  readonly failures: number
  /** Compactions in a row that came within a few answers of each other, without a human message between them. */
  readonly rapid: number
  /** A snip, another model, other tools or a compaction by hand came since: the next human message closes the breaker. */
  readonly isChanged: boolean
  readonly isOpen: boolean
  /** A refused prompt was compacted although the breaker is open, which is done once. */
  readonly hasRecovered: boolean
}

export const closedBreaker: Breaker = {
  failures: 0,
  rapid: 0,
  isChanged: false,
  isOpen: false,
  hasRecovered: false,
}

export const mostFailures = 3
const mostRapid = 3
/** If the context is full again after this many answers, compacting did not help. */
export const fewAnswers = 2

export function afterFailure(breaker: Breaker): Breaker {
  const failures = breaker.failures + 1
  return { ...breaker, failures, isOpen: breaker.isOpen || failures >= mostFailures }
}

/** `isRapid`: only a few answers and no human message since the compaction before. */
export function afterApplied(breaker: Breaker, { isRapid }: { readonly isRapid: boolean }): Breaker {
  const rapid = isRapid ? breaker.rapid + 1 : 0
  // While it stays open, an overflow is still compacted once only.
  return settled({ ...closedBreaker, rapid, hasRecovered: breaker.hasRecovered }, rapid >= mostRapid)
}

export function afterHand(breaker: Breaker): Breaker {
  return afterChange(unchained(breaker))
}

/** A person is present, so compactions in quick succession are no reason to stay open. */
function unchained(breaker: Breaker): Breaker {
  return settled({ ...breaker, rapid: 0 }, breaker.isOpen && breaker.failures >= mostFailures)
}

/** A breaker that closes forgets that it let a recovery through. */
function settled(breaker: Breaker, isOpen: boolean): Breaker {
  return { ...breaker, isOpen, hasRecovered: isOpen && breaker.hasRecovered }
}

export function afterChange(breaker: Breaker): Breaker {
  return breaker.isChanged || inARow(breaker) === 0 ? breaker : { ...breaker, isChanged: true }
}

/** A human message alone does not remove the cause of failures; after a change it is worth another try. */
export function afterHuman(breaker: Breaker): Breaker {
  return breaker.isChanged ? closedBreaker : unchained(breaker)
}

/** A prompt was refused: without a compaction the conversation would be stuck. */
export function afterRecovery(breaker: Breaker): Breaker {
  return breaker.isOpen ? { ...breaker, hasRecovered: true } : breaker
}

/** Attempts in a row without progress, of the kind there are most of. */
export function inARow({ failures, rapid }: Breaker): number {
  return Math.max(failures, rapid)
}

export const breakerText =
  'Automatic compaction has stopped for this conversation: several in a row failed, or left the context nearly full. ' +
  'Compact by hand, remove something large, or change the model; then go on.'
