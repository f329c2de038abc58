// What a compaction is given and what it gives back: one record for manual, automatic and reactive, full and partial.
import type { Ledger } from '../ledger/facts.ts'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure } from '../ports/events.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { ModelRequest, QuerySource } from '../ports/model.ts'
import type { Restoration, Restore } from '../ports/restore.ts'
import type { Tried } from '../summary/asking.ts'
import type { Counting } from '../tokens/counting.ts'
import type { View } from '../transcript/fold.ts'

export type PartialChoice =
  /** What comes from this message on is summarised, what is before it stays. */
  | { readonly type: 'from'; readonly uuid: string }
  /** What comes before this message is summarised, the message and what follows it stay. */
  | { readonly type: 'up-to'; readonly uuid: string }

/** Words that somebody kept ready, and what they are called in the boundary. */
export type GivenSummary = { readonly text: string; readonly mechanism: string; readonly why: string }

export type CompactionSettings = {
  /** A summariser other than the conversation's model: its cache cannot be shared then. */
  readonly model?: string | undefined
  readonly shareCache: boolean
  /** When no model could write the summary: always make one without a model, only when the prompt was too long, never. */
  readonly offline: 'always' | 'overflow' | 'never'
  /** Tokens of the summary at the most, of user messages in it, of the ledger in it. */
  readonly summaryTokens: number
  readonly humanTokens: number
  readonly ledgerTokens: number
  /** Of restored context, all kinds together. */
  readonly restoreTokens: number
  /** An automatic compaction must get below this share of the threshold. */
  readonly targetShare: number
  /** Thinking in kept messages on a model that binds it to the prefix: taken out, or no partial compaction. */
  readonly boundThinking: 'remove' | 'decline'
  /** on-demand: ask the provider's own compaction first, where it offers one. */
  readonly serverCompaction: 'off' | 'on-demand'
}

export const defaultCompaction: CompactionSettings = {
  shareCache: true,
  offline: 'always',
  summaryTokens: 24_000,
  humanTokens: 8_000,
  ledgerTokens: 4_000,
  restoreTokens: 50_000,
  targetShare: 0.6,
  boundThinking: 'remove',
  serverCompaction: 'off',
}

export type CompactionInput = {
  readonly trigger: Trigger
  /** Why now, for people and statistics: `manual`, `threshold`, `overflow` … */
  readonly reason: string
  readonly view: View
  /** Any record by its uuid, for what messages do not hold; without it the facts are fewer. */
  readonly recordOf?: (uuid: string) => JsonObject | undefined
  /** The conversation's own request, exactly as the next turn would send it; without it no cache is shared. */
  readonly conversation?: ModelRequest | undefined
  readonly instructions?: string | undefined
  readonly partial?: PartialChoice | undefined
  /** A summary that is there already: no model is asked. What people typed is put behind it. */
  readonly given?: GivenSummary | undefined
  readonly settings?: Partial<CompactionSettings>
  readonly counting?: Counting
  /** The tokens of the view, where they are known; else all of it is counted. */
  readonly viewTokens?: number | undefined
  /** Estimated tokens of the system prompt and the tools. */
  readonly overhead?: number
  /** The size as everybody sees it, where it is known; else it is estimated. */
  readonly size?: number | undefined
  /** Of automatic compaction; 0 when there is none. */
  readonly threshold: number
  /** Tokens that the whole new context may have by our counter. Comes before the target of the trigger. */
  readonly budget?: number | undefined
  /** Facts up to now, where somebody keeps them; else they are read off the view and the last boundary. */
  readonly ledger?: Ledger | undefined
  readonly restore?: Restore | undefined
  readonly discoveredTools?: readonly string[]
  readonly isAutonomous?: boolean
  readonly transcriptPath?: string | undefined
  /** The agent has the recall tool. */
  readonly recall?: boolean
  readonly source?: QuerySource
  /** Of the turn in which this happens; the next compaction names it. */
  readonly turnId?: string | undefined
  readonly sessionId: string
  /** The newest entry of the chain; left out, the newest of the view. */
  readonly lastUuid?: string | undefined
  readonly envelope?: JsonObject | undefined
  /** Writes the records as one unit. Left out, they are only returned. */
  readonly commit?: (records: readonly JsonObject[]) => CommitResult | Promise<CommitResult>
  /** false where this is one rung of a ladder: whoever climbs it tells the start and the end. Default true. */
  readonly tellsEnds?: boolean
}

export type CommitResult =
  | { readonly type: 'committed' }
  /** Nothing was written. The reason is `write_failed` unless another is given. */
  | { readonly type: 'failed'; readonly message: string; readonly reason?: CompactionFailure }

export type Compacted = {
  readonly type: 'compacted'
  /** In the order of the transcript, to be appended in one write. */
  readonly records: readonly JsonObject[]
  /** The new context. */
  readonly messages: readonly ViewMessage[]
  readonly summary: string
  readonly boundaryUuid: string
  readonly summaryUuid: string
  readonly keptUuids: readonly string[]
  /** By the same counter, without system prompt and tools. */
  readonly tokens: { readonly before: number; readonly after: number }
  /** As the gauge shows them. */
  readonly size: { readonly before: number; readonly after: number }
  readonly mechanism: string
  readonly model?: string
  readonly tried: readonly Tried[]
  readonly usage: TokenCounts
  readonly cost?: number
  /** Of the request that shared the cache: which part of its prompt was read from there. */
  readonly hitRate?: number
  readonly fidelity: FidelityReport
  readonly chain: ChainInfo
  readonly ledger: Ledger
  readonly restored: Restoration
  readonly durationMs: number
  /** What hooks have to say to the person. */
  readonly notices: readonly string[]
  /** What PostCompact hooks want the model to see. */
  readonly contextAfter: readonly string[]
}

export type CompactionFailed = {
  readonly type: 'failed'
  readonly reason: CompactionFailure
  /** For a person: what was wrong, and what can be done. */
  readonly detail: string
  readonly tried: readonly Tried[]
  readonly usage: TokenCounts
  readonly notices: readonly string[]
}

export type CompactionResult = Compacted | CompactionFailed
