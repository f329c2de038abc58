// The parts of the gateway, for code that handles requests.

import type { Books } from './books/book.ts'
import type { Metrics } from './books/metrics.ts'
import type { Config } from './config/schema.ts'
import type { InFlight } from './http/in-flight.ts'
import type { Identify } from './identify/identify.ts'
import type { Managed } from './levels/managed.ts'
import type { Limits } from './limits/limits.ts'
import type { Log } from './log.ts'
import type { RecallPlace } from './recall/mcp.ts'
import type { StoreHealth } from './state/health.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Tenants } from './tenants.ts'
import type { Recorder } from './transcripts/recorder.ts'
import type { Upstreams } from './upstreams.ts'

export type Parts = {
  readonly config: Config
  readonly log: Log
  readonly now: () => number
  /** True if new requests are refused. */
  readonly isStopping: () => boolean
  readonly inFlight: InFlight
  readonly tenants: Tenants
  readonly upstreams: Upstreams
  readonly limits: Limits
  readonly identify: Identify
  readonly managed: Managed
  readonly books: Books
  readonly metrics: Metrics
  readonly telemetry: Telemetry
  readonly recorder: Recorder
  readonly health: StoreHealth
  /** The place of a tenant's searchable transcripts. */
  readonly recallPlace: (tenant: string) => RecallPlace
}
