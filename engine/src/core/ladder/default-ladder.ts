// The ladder as it is unless a host says otherwise.
import { microByCacheEdit } from '../mechanisms/micro/by-cache-edit.ts'
import { microByIdle } from '../mechanisms/micro/by-idle.ts'
import { microBySize } from '../mechanisms/micro/by-size.ts'
import { native } from '../mechanisms/native/native.ts'
import { mechanismRung } from './mechanism-rung.ts'
import type { Ladder, Rung } from './rung.ts'

/** Rungs that belong to one session: they know its notes, and the summaries that wait for their places. */
export type OwnRungs = {
  readonly memory?: Rung | undefined
  readonly collapse?: Rung | undefined
  /** The server's own context management, where the settings ask for it. */
  readonly isNative?: boolean
}

/** `compaction` are the rungs that summarise, cheapest first; the last of them should be one that cannot fail. */
export function defaultLadder(
  compaction: readonly Rung[],
  { memory, collapse, isNative = false }: OwnRungs = {},
): Ladder {
  const whole = memory ? [memory, ...compaction] : compaction
  const micro = [microByIdle, microByCacheEdit, microBySize, ...(isNative ? [native] : [])].map(mechanismRung)
  return {
    'every-request': collapse ? [collapse, ...micro] : micro,
    'over-threshold': whole,
    manual: whole,
    overflow: compaction,
  }
}
