// The data of a request after its answer has ended.
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
  /** Id of the exchange, so that it is stored once even if it is written again after a failure. */
  readonly id: string
  readonly caller: Caller
  readonly level: Level
  /** Name of the upstream. */
  readonly upstream: string
  /** Headers of the request. */
  readonly headers: IncomingHttpHeaders
  readonly dialect: Dialect
  readonly forwarded: Forwarded
  /** Body of the request. */
  readonly bytes: Buffer
  /** Arrival of the request, and its duration. */
  readonly time: number
  readonly ms: number
  /** Answers to the gateway's own requests, which the caller also pays. */
  readonly own: readonly ModelAnswer[]
  /** The gateway itself answered the client's compaction. */
  readonly isHandover: boolean
  /** Set if it was found before the request was sent. */
  readonly conversation?: Conversation
  /** Tokens of the sent request, by our estimate, if it differs from the client's. */
  readonly sentTokens?: number
  readonly trace: Trace
  /** The data for repeating the request. */
  readonly request: {
    readonly route: Route
    readonly rawHeaders: readonly string[]
    /** Set if it was sent with changes. */
    readonly sent: JsonObject | undefined
  }
}
