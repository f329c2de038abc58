// The books: a row for each request with what it cost, why the cache was missed, and what was removed from it. The gateway's own
// model calls are rows of their own, so that a balance shows both sides.
import type { CacheOutcome } from 'everlong/internal/wire'
import type { Level } from '../config/schema.ts'
import type { DialectName } from '../dialects/dialect.ts'

/** Who caused the request: a client, or the gateway itself, for a client's request or to keep a cache warm. */
export type RowKind = 'client' | 'own' | 'keep-alive'

export type Row = {
  /** The same for a row that is added again after a failure, which is then stored once. */
  readonly id: string
  /** Milliseconds since 1970, when the request came. */
  readonly time: number
  readonly kind: RowKind
  readonly tenant: string
  readonly key: string
  /** Whose request it is, if it says so. */
  readonly user: string | undefined
  readonly session: string
  readonly api: DialectName
  readonly upstream: string
  readonly model: string
  readonly level: Level
  readonly status: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWriteHour: number
  /** US dollars; undefined if the price of the model is not known. */
  readonly cost: number | undefined
  /** Undefined if the answer told no usage. */
  readonly cache: CacheOutcome | undefined
  /** What a miss cost more than a hit, in US dollars. */
  readonly missCost: number | undefined
  /** Tokens that the client alone would have sent and that the upstream did not get. */
  readonly removed: number
  /** What the request would have cost without the gateway, less what it cost, in US dollars. May be below zero. */
  readonly saved: number | undefined
  readonly ms: number
}

export type Period = {
  readonly tenant?: string | undefined
  /** Milliseconds since 1970. */
  readonly since?: number | undefined
}

/** Sums over the rows with the same names. */
export type Sum = Pick<Row, 'kind' | 'tenant' | 'model' | 'level' | 'cache'> & {
  readonly requests: number
  readonly failed: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cost: number
  /** Requests whose price is not known. */
  readonly unpriced: number
  readonly missCost: number
  readonly removed: number
  readonly saved: number
}

export type Books = {
  /** A row whose id is there already is not added again. */
  readonly add: (row: Row) => Promise<void>
  readonly sums: (period: Period) => Promise<readonly Sum[]>
}
