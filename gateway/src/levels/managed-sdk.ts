// Shared parts of the engine's adapters for level 3: a request of the client, and the way to the upstream.
import type { JsonObject } from 'everlong/internal'

/** The part of an official client's request that its middleware changes. */
export type WireRequest = { readonly body: string; readonly signal?: unknown }

/** The way to the upstream of the current request. Requests without its signal are the gateway's own. */
export type UpstreamWay = {
  readonly signal: AbortSignal
  readonly next: (request: WireRequest) => Promise<Response>
  readonly context: {
    readonly parse: (response: Response) => Promise<unknown>
    readonly logger: Pick<Console, 'debug'>
  }
  /** The failure with which a stream began. The Responses API reports this way that a prompt is too long. */
  readonly failureIn: (response: Response) => JsonObject | undefined
}

export type Sending = { readonly body: JsonObject; readonly wire: UpstreamWay }

/** The engine's adapter for an API. */
export type ManagedSdk = {
  /** Sends the request, reduced if that pays. A summary uses the credential of the conversation's newest request. */
  readonly run: (sending: Sending) => Promise<Response>
  readonly close: () => Promise<void>
}
