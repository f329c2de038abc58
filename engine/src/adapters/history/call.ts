// A call of an SDK, as far as its conversation is found or started by it.
import type { ModelClient } from '../../core/ports/model.ts'
import type { ManagedHistory } from './managed-history.ts'

export type AdapterCall<Foreign, Host> = {
  /** What the option `sessionId` of the host is called with. */
  readonly host: Host
  readonly messages: readonly Foreign[]
  /** The conversation, if the call names it in the SDK's own way. */
  readonly id?: string | undefined
  /** Writes the summaries. Called when a session is started or opened. */
  readonly client: () => ModelClient
  /** The name of the model that is called. Default: that of the client. */
  readonly model?: string | undefined
  /** Whether the client asks the model that is called, rather than one of its own. */
  readonly asksCalled?: boolean
  /** The host sets marks for the prompt cache itself, of which a request may have four. */
  readonly hasMarks?: boolean
  /** Whether a request for a summary can read the conversation's prompt cache. Default true. */
  readonly sharesCache?: boolean
}

/** The conversation that a call belongs to. A session is started or opened if there is none yet. */
export type HistoryOf<Foreign, Host> = (call: AdapterCall<Foreign, Host>) => Promise<ManagedHistory<Foreign>>
