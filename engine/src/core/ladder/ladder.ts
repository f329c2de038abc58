// The ladder as data: for each trigger the mechanisms in the order in which they are tried, and the default one.
import type { Mechanism } from '../mechanisms/mechanism.ts'
import { microByCacheEdit, microByIdle, microBySize } from '../mechanisms/micro.ts'
import { native } from '../mechanisms/native.ts'

/** Before each request; over the threshold; on a person's command; after the provider refused a request as too long. */
export type LadderTrigger = 'every-request' | 'over-threshold' | 'manual' | 'overflow'

/** Each mechanism is tried only when the one before it failed or declined. */
export type Ladder = Readonly<Record<LadderTrigger, readonly Mechanism[]>>

/** Mechanisms that belong to one session: they know its notes and its staged summaries. */
export type SessionMechanisms = {
  readonly memory?: Mechanism | undefined
  readonly collapse?: Mechanism | undefined
  /** Whether to use the server's own context management. */
  readonly isNative?: boolean
}

/** `compaction` are the mechanisms that summarize, cheapest first; the last one should never fail. */
export function defaultLadder(
  compaction: readonly Mechanism[],
  { memory, collapse, isNative = false }: SessionMechanisms = {},
): Ladder {
  const whole = memory ? [memory, ...compaction] : compaction
  const micro = [microByIdle, microByCacheEdit, microBySize, ...(isNative ? [native] : [])]
  return {
    'every-request': collapse ? [collapse, ...micro] : micro,
    'over-threshold': whole,
    manual: whole,
    overflow: compaction,
  }
}
