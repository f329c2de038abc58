// An exchange as a row of the books.
import type { TokenCounts } from 'everlong'
import { costOf } from 'everlong/internal'
import { billedCounts, type Usage } from 'everlong/internal/wire'
import type { Passed } from '../transcripts/passed.ts'
import type { Row, RowKind } from './book.ts'
import type { Watched } from './cache-watch.ts'

export type Booked = {
  readonly id: string
  readonly kind: RowKind
  readonly user: string | undefined
  readonly model: string
  readonly session: string
  readonly usage: Usage | undefined
  readonly watched: Pick<Watched, 'cache' | 'missCost'> | undefined
}

type Told = Pick<Passed, 'caller' | 'level' | 'upstream' | 'dialect' | 'time' | 'ms' | 'removed'> & {
  readonly forwarded: { readonly status: number }
}

export function rowOf(passed: Told, { id, kind, user, model, session, usage, watched }: Booked): Row {
  const { caller, level, upstream, dialect, forwarded, time, ms } = passed
  const counts = usage && billedCounts(usage)
  const removed = kind === 'client' ? passed.removed : 0
  return {
    ...{ id, kind, time, ms, tenant: caller.tenant, key: caller.key, user, session, level, upstream },
    ...{ api: dialect.name, model, status: forwarded.status },
    ...{ input: counts?.input ?? 0, output: counts?.output ?? 0 },
    ...{ cacheRead: counts?.cacheRead ?? 0, cacheWrite: counts?.cacheWrite ?? 0 },
    cacheWriteHour: counts?.cacheWriteHour ?? 0,
    // An answer that cost nothing because it was refused is no answer of unknown price.
    cost: counts ? costOf(counts, model) : forwarded.status >= 400 ? 0 : undefined,
    cache: watched?.cache,
    missCost: watched?.missCost,
    removed,
    saved: counts && removed > 0 ? savedBy(removed, counts, model) : 0,
  }
}

/** At the tier of the request: what was removed would have been read, written or sent together with the rest of its prefix. */
function savedBy(tokens: number, counts: TokenCounts, model: string): number | undefined {
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
  if (counts.cacheRead > counts.cacheWrite) return costOf({ ...none, cacheRead: tokens }, model)
  const isHour = counts.cacheWriteHour === counts.cacheWrite
  if (counts.cacheWrite > 0) return costOf({ ...none, cacheWrite: tokens, cacheWriteHour: isHour ? tokens : 0 }, model)
  return costOf({ ...none, input: tokens }, model)
}
