// The ladder as it is unless a host says otherwise.
import { microByCacheEdit } from '../mechanisms/micro/by-cache-edit.ts'
import { microByIdle } from '../mechanisms/micro/by-idle.ts'
import { microBySize } from '../mechanisms/micro/by-size.ts'
import { mechanismRung } from './mechanism-rung.ts'
import type { Ladder, Rung } from './rung.ts'

/** `compaction` are the rungs that summarise, cheapest first; the last of them should be one that cannot fail. */
export function defaultLadder(compaction: readonly Rung[]): Ladder {
  return {
    'every-request': [microByIdle, microByCacheEdit, microBySize].map(mechanismRung),
    'over-threshold': compaction,
    manual: compaction,
    overflow: compaction,
  }
}
