// An admitted request, for the levels that handle it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dialect } from '../dialects/dialect.ts'
import type { Shape } from '../http/refusals.ts'
import type { Trace } from '../telemetry/telemetry.ts'
import type { Caller } from '../tenants.ts'
import type { Route } from '../upstreams.ts'

export type Call = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly caller: Caller
  readonly route: Route
  /** Undefined if the request is passed on without being read. */
  readonly dialect: Dialect | undefined
  readonly shape: Shape
  readonly started: number
  readonly trace: Trace
}

/** A call whose conversation can be read. */
export type ReadableCall = Call & { readonly dialect: Dialect }
