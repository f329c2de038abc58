// What the engine's adapters of level 3 have in common, whatever the API: a request of the client, and the way to the upstream.
import type { JsonObject } from 'everlong/internal'

/** As much of a request of the official client as its middleware changes. */
export type WireRequest = { readonly body: string; readonly signal?: unknown }

/** The way to the upstream of the request that is being handled. Requests without its signal are the gateway's own. */
export type Way = {
  readonly signal: AbortSignal
  readonly next: (request: WireRequest) => Promise<Response>
  readonly context: {
    readonly parse: (response: Response) => Promise<unknown>
    readonly logger: Pick<Console, 'debug'>
  }
  /** The failure that a stream began with: the Responses API says so that a prompt is too long. */
  readonly failureIn: (response: Response) => JsonObject | undefined
}

export type Sending = { readonly body: JsonObject; readonly wire: Way }

/** The engine's adapter for an API. */
export type ManagedSdk = {
  /** Sends the request, reduced where that pays. A summary is asked for with the credential of the conversation's newest request. */
  readonly run: (sending: Sending) => Promise<Response>
  readonly close: () => Promise<void>
}
