// What is left of a request when its answer has ended.
import type { IncomingHttpHeaders } from 'node:http'
import type { ModelAnswer } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import type { Level } from '../config/schema.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Forwarded } from '../http/forward.ts'
import type { Conversation } from '../identify/identify.ts'
import type { Trace } from '../telemetry/telemetry.ts'
import type { Caller } from '../tenants.ts'
import type { Route } from '../upstreams.ts'

/** A request with its answer, as bytes. */
export type Passed = {
  /** Of the exchange, so that it is stored once even if it is written again after a failure. */
  readonly id: string
  readonly caller: Caller
  readonly level: Level
  /** Its name. */
  readonly upstream: string
  /** Of the request. */
  readonly headers: IncomingHttpHeaders
  readonly dialect: Dialect
  readonly forwarded: Forwarded
  /** Of the request. */
  readonly bytes: Buffer
  /** When the request came, and how long it took. */
  readonly time: number
  readonly ms: number
  /** Answers to requests of the gateway's own, which the caller pays too. */
  readonly own: readonly ModelAnswer[]
  /** The gateway itself answered the client's compaction. */
  readonly isHandover: boolean
  /** If it was found before the request was sent. */
  readonly conversation?: Conversation
  /** Tokens of the request that was sent, by our estimate, if it is not the client's own. */
  readonly sentTokens?: number
  readonly trace: Trace
  /** What is needed to send it once more. */
  readonly request: {
    readonly route: Route
    readonly rawHeaders: readonly string[]
    /** If it was not sent as it came. */
    readonly sent: JsonObject | undefined
  }
}
