// The interface to OpenTelemetry, without its packages, which are loaded only if it is switched on. Nothing here may carry text
// of a conversation, a credential, or a name that a caller chose.
import type { EngineEvent } from 'everlong'
import type { Usage } from 'everlong/internal/wire'
import type { Row, RowKind } from '../books/book.ts'
import type { Config, Level } from '../config/schema.ts'
import type { DialectName } from '../dialects/dialect.ts'
import type { Log } from '../log.ts'

export type Telemetry = {
  readonly request: (request: TracedRequest) => Trace
  readonly count: (row: Row) => void
  /** Sends the remaining data. */
  readonly close: () => Promise<void>
}

export type TracedRequest = {
  readonly method: string
  /** `other`: passed on unread. */
  readonly api: DialectName | 'other'
  readonly tenant: string
  readonly level: Level
  /** Arrival, in milliseconds since 1970. */
  readonly time: number
  /** Headers of the request, with its trace. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** One request of a client, with everything that is done for it. */
export type Trace = {
  /** A request to an upstream: the client's, or one of the gateway's own. */
  readonly ask: (upstream: AskedUpstream, kind: RowKind) => Asking
  /** Compactions of the engine. */
  readonly onEvent: (event: EngineEvent) => void
  /** Writes the exchange. */
  readonly record: (work: () => Promise<void>) => Promise<void>
  /** Usage of the client's request, known after its answer was read. */
  readonly used: (used: Used) => void
  /** Reports that the client has its answer. */
  readonly answered: (status: number) => void
  /** Reports that nothing more will follow. */
  readonly close: () => void
}

export type AskedUpstream = { readonly name: string; readonly origin: URL }

export type Asking = {
  /** Headers for the upstream, instead of the caller's. */
  readonly headers: Readonly<Record<string, string>>
  /** `status` is 0 if there was no answer. */
  readonly ended: (status: number) => void
  readonly used: (used: Used) => void
}

export type Used = { readonly model: string; readonly usage: Usage | undefined }

const nothing = () => undefined
const noAsking: Asking = { headers: {}, ended: nothing, used: nothing }

export const noTrace: Trace = {
  ...{
    ask: () => noAsking,
    onEvent: nothing,
    record: (work) => work(),
    used: nothing,
    answered: nothing,
    close: nothing,
  },
}

export const noTelemetry: Telemetry = { request: () => noTrace, count: nothing, close: async () => undefined }

export type TelemetryParts = {
  readonly config: Config['telemetry']
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly now: () => number
}
