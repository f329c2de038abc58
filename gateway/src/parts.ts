// What the gateway is made of, for those that handle requests.
import type { Config } from './config/schema.ts'
import type { Identify } from './identify/identify.ts'
import type { Log } from './log.ts'
import type { Tenants } from './tenants.ts'
import type { Recorder } from './transcripts/recorder.ts'
import type { Upstreams } from './upstreams.ts'

export type Parts = {
  readonly config: Config
  readonly log: Log
  readonly now: () => number
  readonly tenants: Tenants
  readonly upstreams: Upstreams
  readonly identify: Identify
  readonly recorder: Recorder
}
