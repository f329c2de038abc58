// The ladder as data: rungs in order under a trigger. A rung looks at the context and answers with what should be done
// to it; it appends nothing. Whoever climbs measures the answer and decides.

import type { Tried } from '../compaction/ask/asker.ts'
import type { CommitResult } from '../compaction/job.ts'
import type { RequestOptions, Situation } from '../mechanisms/mechanism.ts'
import type { JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure } from '../ports/events.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Restore } from '../ports/restore.ts'
import type { ContextSize } from '../tokens/context-size.ts'
import type { Counting } from '../tokens/estimate/counting.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { QueuedWords } from '../transcript/format/queued-words.ts'
import type { View } from '../transcript/view/fold.ts'

/** Why a compaction is wanted: a person, the threshold, its price, an overflow, a smaller model, or work done ahead. */
export type CompactionCause = 'person' | 'threshold' | 'economy' | 'overflow' | 'model-switch' | 'background'

/** What a person wants summarised; all of it when neither is given. Both are uuids of entries. */
export type CompactRange = { readonly from?: string; readonly upTo?: string }

export type { CommitResult, Tried }

export type RungContext = {
  readonly view: View
  readonly situation: Situation
  readonly trigger: Trigger
  readonly cause: CompactionCause
  readonly instructions: string
  readonly range: CompactRange
  /** Success is a size below this. */
  readonly target: number
  /** The turn's own request, as it would be sent: a summary can share its cache. */
  readonly request: () => ModelRequest
  readonly chain: ChainInfo
  readonly place: RecordPlace
  /** Words that the user typed while the agent worked and that are in no message. */
  readonly queued: readonly QueuedWords[]
  /** The size as everybody sees it, and the part of it that no compaction makes smaller. */
  readonly size: ContextSize
  readonly overhead: number
  readonly counting: Counting
  readonly turnId: string
  /**
   * Measures a compaction's records (boundary, summary, attachments, hook results) and appends them as one unit: all of
   * them or none. A compaction that frees too little is refused here, with the numbers.
   */
  readonly commit: (records: readonly JsonObject[]) => Promise<CommitResult>
  /** The record that an entry of the view came from. */
  readonly record: (uuid: string) => JsonObject | undefined
  /** What the session puts back after a compaction. */
  readonly restore?: Restore | undefined
  readonly ports: CompactionPorts
  readonly signal?: AbortSignalPort | undefined
}

/** Where new records hang. */
export type RecordPlace = {
  /** The newest entry of the chain. */
  readonly tip: string | null
  readonly sessionId: string
  /** What the client puts on each record: cwd, version, gitBranch … */
  readonly envelope: JsonObject
  /** The transcript's path, for the words that point to it. */
  readonly transcript?: string | undefined
}

export type RungResult =
  | { readonly type: 'reduced'; readonly edits: readonly Edit[]; readonly freed: number; readonly results: number }
  | { readonly type: 'delegated'; readonly request: RequestOptions; readonly freed: number; readonly results: number }
  | ({ readonly type: 'compacted' } & CompactionReport)
  | { readonly type: 'declined'; readonly why: string }
  | {
      readonly type: 'failed'
      readonly reason: CompactionFailure
      readonly why: string
      readonly tried?: readonly Tried[]
    }

/** Of a compaction that was committed. */
export type CompactionReport = {
  readonly mechanism: string
  /** What the summary cost. */
  readonly usage: TokenCounts
  readonly cost?: number | undefined
  readonly restored: number
  /** What was tried on the way to it. */
  readonly tried?: readonly Tried[]
  /** For the person. */
  readonly notices?: readonly string[]
}

export type Rung = {
  readonly name: string
  readonly run: (context: RungContext) => Promise<RungResult>
}

/** Before each request; when the context is over the threshold; when a person asks; when the provider refused. */
export type LadderTrigger = 'every-request' | 'over-threshold' | 'manual' | 'overflow'

/** For each trigger the rungs in their order: each is tried only when the one before failed or declined. */
export type Ladder = Readonly<Record<LadderTrigger, readonly Rung[]>>
