// An exchange as a row of the books.
import { costOf } from 'everlong/internal'
import { billedCounts, type Usage } from 'everlong/internal/wire'
import type { Passed } from '../transcripts/passed.ts'
import type { Alone } from './alone.ts'
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
  /** The request without the gateway. Undefined if it would have been the same. */
  readonly alone?: Pick<Alone, 'tokens' | 'cost'> | undefined
}

type Told = Pick<Passed, 'caller' | 'level' | 'upstream' | 'dialect' | 'time' | 'ms'> & {
  readonly forwarded: { readonly status: number }
}

export function rowOf(passed: Told, { id, kind, user, model, session, usage, watched, alone }: Booked): Row {
  const { caller, level, upstream, dialect, forwarded, time, ms } = passed
  const counts = usage && billedCounts(usage)
  // A refused request cost nothing; its price is not unknown.
  const cost = counts ? costOf(counts, model) : forwarded.status >= 400 ? 0 : undefined
  const sent = counts ? counts.input + counts.cacheRead + counts.cacheWrite : 0
  return {
    ...{ id, kind, time, ms, tenant: caller.tenant, key: caller.key, user, session, level, upstream },
    ...{ api: dialect.name, model, status: forwarded.status },
    ...{ input: counts?.input ?? 0, output: counts?.output ?? 0 },
    ...{ cacheRead: counts?.cacheRead ?? 0, cacheWrite: counts?.cacheWrite ?? 0 },
    cacheWriteHour: counts?.cacheWriteHour ?? 0,
    cost,
    cache: watched?.cache,
    missCost: watched?.missCost,
    removed: Math.max(0, (alone?.tokens ?? 0) - sent),
    saved: alone ? difference(alone.cost, cost) : 0,
  }
}

function difference(alone: number | undefined, cost: number | undefined): number | undefined {
  return alone === undefined || cost === undefined ? undefined : alone - cost
}
