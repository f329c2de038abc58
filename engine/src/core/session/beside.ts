// The conversation as work in the background sees it: what it may read, what it may ask, and where it tells what it used.
// It can change nothing in it.
import type { Ledger } from '../ledger/facts.ts'
import type { Weigher } from '../mechanisms/weigher.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { Emit } from '../ports/events.ts'
import type { AbortSignalPort, ModelClient, QuerySource } from '../ports/model.ts'
import type { View } from '../transcript/view/fold.ts'

export type Beside = {
  readonly view: () => View
  /** The size as everybody sees it. */
  readonly tokens: () => number
  readonly effectiveWindow: () => number
  readonly ledger: () => Ledger
  readonly weigher: () => Weigher
  readonly client: () => ModelClient
  /** The model's name in requests. */
  readonly model: () => string
  readonly countTokens: (text: string) => number
  readonly emit: Emit
  readonly spend: (source: QuerySource, usage: TokenCounts) => void
  /** Aborted when the session is closed. */
  readonly signal: AbortSignalPort
}
