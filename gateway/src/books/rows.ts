// An exchange as a row of the books.
import { costOf } from 'everlong/internal'
import { billedCounts, type Usage } from 'everlong/internal/wire'
import type { Passed } from '../transcripts/passed.ts'
import type { Row, RowKind } from './book.ts'
import type { Watched } from './cache-watch.ts'

export type Booked = {
  readonly kind: RowKind
  readonly model: string
  readonly session: string
  readonly usage: Usage | undefined
  readonly watched: Watched | undefined
}

type Told = Pick<Passed, 'caller' | 'level' | 'upstream' | 'dialect' | 'time' | 'ms'> & {
  readonly forwarded: { readonly status: number }
}

export function rowOf(passed: Told, { kind, model, session, usage, watched }: Booked): Row {
  const { caller, level, upstream, dialect, forwarded, time, ms } = passed
  const counts = usage && billedCounts(usage)
  return {
    ...{ kind, time, ms, tenant: caller.tenant, key: caller.key, session, level, upstream },
    ...{ api: dialect.name, model, status: forwarded.status },
    ...{ input: counts?.input ?? 0, output: counts?.output ?? 0 },
    ...{ cacheRead: counts?.cacheRead ?? 0, cacheWrite: counts?.cacheWrite ?? 0 },
    cacheWriteHour: counts?.cacheWriteHour ?? 0,
    // An answer that cost nothing because it was refused is no answer of unknown price.
    cost: counts ? costOf(counts, model) : forwarded.status >= 400 ? 0 : undefined,
    cache: watched?.cache,
    missCost: watched?.missCost,
    removed: 0,
    saved: 0,
  }
}
