// The books: a row for each request with its cost, the reason of a cache miss, and the removed tokens. The gateway's own model
// calls are separate rows, so that a balance shows both sides.
import type { CacheOutcome } from 'everlong/internal/wire'
import type { Level } from '../config/schema.ts'
import type { DialectName } from '../dialects/dialect.ts'

/** The cause of the request: a client, or the gateway itself, for a client's request or to keep a cache warm. */
export type RowKind = 'client' | 'own' | 'keep-alive'

export type Row = {
  /** A row that is added again after a failure has the same id, so it is stored once. */
  readonly id: string
  /** Arrival of the request, in milliseconds since 1970. */
  readonly time: number
  readonly kind: RowKind
  readonly tenant: string
  readonly key: string
  /** The user of the request, if it names one. */
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
  /** US dollars. Undefined if the model's price is unknown. */
  readonly cost: number | undefined
  /** Undefined if the answer reported no usage. */
  readonly cache: CacheOutcome | undefined
  /** Extra cost of a miss compared to a hit, in US dollars. */
  readonly missCost: number | undefined
  /** Tokens that the client would have sent without the gateway and that the upstream did not get. */
  readonly removed: number
  /** Cost of the request without the gateway minus its cost, in US dollars. May be negative. */
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
  /** Number of requests with an unknown price. */
  readonly unpriced: number
  readonly missCost: number
  readonly removed: number
  readonly saved: number
}

export type Books = {
  /** A row with an existing id is not added again. */
  readonly add: (row: Row) => Promise<void>
  readonly sums: (period: Period) => Promise<readonly Sum[]>
}
