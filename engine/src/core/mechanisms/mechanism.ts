// One interface for everything that makes the context smaller. A mechanism either plans (pure) or runs (asks a model,
// waits). It never writes to the transcript.

import type { CacheEditState } from '../cache/cache-watch.ts'
import type { CacheState, Worth } from '../cache/economics.ts'
import type { ModelFacts } from '../catalog/models.ts'
import type { JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure, Tried } from '../ports/events.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import type { CommitResult, CompactionPorts } from '../ports/ports.ts'
import type { Restore } from '../ports/restore.ts'
import type { ReductionSettings } from '../settings/resolve.ts'
import type { ContextSize } from '../tokens/context-size.ts'
import type { Counting } from '../tokens/estimate/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import type { SizeScale } from '../tokens/size-scale.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { QueuedWords } from '../transcript/format/queued-words.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Weigher } from './weigher.ts'

export type Mechanism = PlanningMechanism | RunningMechanism

export type PlanningMechanism = {
  readonly name: string
  /** Pure: the same view and situation give the same plan, and neither is changed. */
  readonly plan: (view: View, situation: Situation) => Plan | Declined
  /** Only asks the server for something, which goes with whatever another mechanism did: it is asked in addition. */
  readonly isAdditive?: true
}

export type RunningMechanism = {
  readonly name: string
  readonly run: (context: MechanismContext) => Promise<MechanismResult>
}

/** What a mechanism may know besides the view. */
export type Situation = {
  readonly explanation: Explanation
  /** Plans are made and checked with this counter. */
  readonly weigher: Weigher
  readonly cache: CacheState
  /** Milliseconds since 1970. */
  readonly now: number
  readonly model: ModelFacts | undefined
  readonly client: ClientAbilities
  /** Whether the next request turns thinking on; where it is off, the API refuses to manage it. */
  readonly thinks: boolean
  readonly settings: ReductionSettings
  /** Requests still to come, if known; else estimated from the growth. */
  readonly expectedTurns?: number | undefined
  /** Tokens by which the context grows with each request, if known. */
  readonly growth?: number | undefined
  /** The smallest context that was reported: about the size after the next compaction. */
  readonly base?: number | undefined
  readonly isCompacted: boolean
  /** The share of future requests that will find the cache cold. */
  readonly coldShare: number
  /** Whether a compaction runs automatically when the context is full. */
  readonly compactionComes: boolean
  /** The size that a compaction has to get below. */
  readonly target: number
  /** What was deleted from the provider's cache so far. */
  readonly cacheEdits?: CacheEditState | undefined
}

/** What the model client can do beyond sending messages. */
export type ClientAbilities = {
  /** Deletes parts of a cached prefix (not in the public Messages API). */
  readonly cacheEdits: boolean
  /** Takes `context_management`. */
  readonly contextManagement: boolean
}

export type PlannedItem = {
  readonly type: 'result' | 'attachment' | 'range' | 'thinking'
  readonly toolUseId?: string
  readonly tool?: string
  readonly path?: string
  /** Where the original stays. */
  readonly uuids: readonly string[]
  readonly message: number
  /** What it weighs by the rule of the mechanism: an image 2,000. */
  readonly tokens: number
  /** What is gained, minus what replaces it. */
  readonly frees: number
  readonly why: string
}

/** What becomes of thinking that the model bound to the prefix. */
export type ThinkingOutcome =
  | 'untouched' // the model does not bind it, or there is none behind the change
  | 'removed' // whole, all of it, behind the change
  | 'delegated' // the server edits, and its signatures stay good

export type Plan = {
  readonly type: 'planned'
  readonly mechanism: string
  readonly reason: string
  readonly items: readonly PlannedItem[]
  readonly freed: number
  readonly thinking: ThinkingOutcome
  readonly worth: Worth
  readonly outcome:
    | { readonly type: 'edits'; readonly edits: readonly Edit[] }
    | { readonly type: 'request'; readonly request: RequestOptions }
}

export type DeclineReason =
  | 'turned-off'
  | 'below-warning'
  | 'below-commit' // staged summaries wait for a fuller window
  | 'nothing-to-do'
  | 'too-little' // less than would be worth a broken cache
  | 'does-not-pay'
  | 'not-idle'
  | 'clock-unreliable'
  | 'cache-not-warm'
  | 'client-unable'
  | 'thinking-bound'
  | 'range-unknown'
  | 'range-pinned'

export type Declined = {
  readonly type: 'declined'
  readonly mechanism: string
  readonly why: DeclineReason
  /** With the numbers, for a person. */
  readonly detail: string
  /** Present if it was the reason. */
  readonly worth?: Worth
}

export type RequestOptions = {
  readonly contextManagement?: { readonly edits: readonly JsonObject[] }
  readonly betas?: readonly string[]
  /** Old and new: they are relative to the cached prefix and go with every request. */
  readonly cacheEdits?: readonly CacheEdit[]
  /** Tool uses whose results the server leaves out, earlier ones included: a change would break the cache. */
  readonly leftOut?: readonly string[]
}

export type CacheEdit = { readonly type: 'delete'; readonly cache_reference: string }

/** Why a compaction runs: a person, the threshold, its price, an overflow, a smaller model, or work done in advance. */
export type CompactionCause = 'person' | 'threshold' | 'economy' | 'overflow' | 'model-switch' | 'background'

/** Uuids of the entries to summarize; everything if neither is given. */
export type CompactRange = { readonly from?: string; readonly upTo?: string }

export type MechanismContext = {
  readonly view: View
  readonly situation: Situation
  readonly trigger: Trigger
  readonly cause: CompactionCause
  readonly instructions: string
  readonly range: CompactRange
  readonly target: number
  /** The turn's own request: a summary can share its cache. */
  readonly request: () => ModelRequest
  readonly chain: ChainInfo
  readonly place: RecordPlace
  /** What the user typed while the agent worked and no message holds. */
  readonly queued: readonly QueuedWords[]
  readonly size: ContextSize
  /** How our estimates relate to the sizes that the provider reports. */
  readonly scale: () => SizeScale
  /** System prompt and tools, which no compaction can reduce. */
  readonly overhead: number
  readonly counting: Counting
  readonly turnId: string
  /** Appends all of a compaction's records or none. Refuses one that frees too little, with the numbers. */
  readonly commit: (records: readonly JsonObject[]) => Promise<CommitResult>
  readonly record: (uuid: string) => JsonObject | undefined
  readonly restore?: Restore | undefined
  readonly ports: CompactionPorts
  readonly signal?: AbortSignalPort | undefined
}

export type RecordPlace = {
  /** The newest entry of the chain. */
  readonly tip: string | null
  readonly sessionId: string
  /** What the client puts on each record: cwd, version, gitBranch … */
  readonly envelope: JsonObject
  readonly transcript?: string | undefined
}

export type MechanismResult =
  | { readonly type: 'reduced'; readonly edits: readonly Edit[]; readonly freed: number; readonly results: number }
  | { readonly type: 'delegated'; readonly request: RequestOptions; readonly freed: number; readonly results: number }
  | ({ readonly type: 'compacted' } & CompactionReport)
  | { readonly type: 'declined'; readonly why: string }
  | {
      readonly type: 'failed'
      readonly reason: CompactionFailure
      readonly why: string
      readonly tried?: readonly Tried[]
      /** What the attempt has cost. */
      readonly spent?: Spent | undefined
    }

export type Spent = {
  readonly usage: TokenCounts
  readonly cost?: number | undefined
  /** Requests to a model. */
  readonly attempts?: number | undefined
  /** Of the request that shared the cache. */
  readonly hitRate?: number | undefined
}

/** About a compaction that was committed. */
export type CompactionReport = Spent & {
  readonly mechanism: string
  readonly restored: number
  readonly tried?: readonly Tried[]
  readonly notices?: readonly string[]
}

export function declined(mechanism: string, why: DeclineReason, detail: string): Declined {
  return { type: 'declined', mechanism, why, detail }
}
