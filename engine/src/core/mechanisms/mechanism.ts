// One seam for everything that makes the context smaller. A mechanism either plans (pure, and the plan is all there is to
// do) or runs (asks a model, waits for something). It never writes to the transcript itself.

import type { Worth } from '../cache/economics.ts'
import type { CacheEditState } from '../cache/edit-state.ts'
import type { CacheState } from '../cache/state.ts'
import type { ModelFacts } from '../catalog/models.ts'
import type { JsonObject } from '../message/json.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { ChainInfo, CompactionFailure, Tried } from '../ports/events.ts'
import type { Trigger } from '../ports/hooks.ts'
import type { AbortSignalPort, ModelRequest } from '../ports/model.ts'
import type { CommitResult, CompactionPorts } from '../ports/ports.ts'
import type { Restore } from '../ports/restore.ts'
import type { ContextSize } from '../tokens/context-size.ts'
import type { Counting } from '../tokens/estimate/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { QueuedWords } from '../transcript/format/queued-words.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Carried } from './pace.ts'
import type { ReductionSettings } from './settings.ts'
import type { Weigher } from './weigher.ts'

export type Mechanism = PlanningMechanism | RunningMechanism

export type PlanningMechanism = {
  readonly name: string
  /** Pure: the same view and situation give the same plan, and neither is changed. */
  readonly plan: (view: View, situation: Situation) => Plan | Declined
}

export type RunningMechanism = {
  readonly name: string
  readonly run: (context: MechanismContext) => Promise<MechanismResult>
}

/** What a mechanism may know besides the view. */
export type Situation = {
  /** Size, windows and thresholds, as everybody else sees them. */
  readonly explanation: Explanation
  /** The one counter: plans are made and checked with it. */
  readonly weigher: Weigher
  readonly cache: CacheState
  /** Milliseconds since 1970. */
  readonly now: number
  /** Unknown models have none. */
  readonly model: ModelFacts | undefined
  readonly client: ClientAbilities
  /** Whether the next request turns thinking on: the API refuses to manage thinking where it is off. */
  readonly thinks: boolean
  readonly settings: ReductionSettings
  /** Requests still expected, where somebody knows; else they follow from the growth. */
  readonly expectedTurns?: number | undefined
  /** Tokens by which the context grows with each request, where that can be told. */
  readonly growth?: number | undefined
  /** The smallest context that was reported: after a compaction, about what the next one comes back to. */
  readonly base?: number | undefined
  /** What stood in the context through how many requests, and stands there still. */
  readonly carried?: Carried | undefined
  /** The view begins with a summary. */
  readonly isCompacted: boolean
  /** Of the requests to come, the share that will find the cache cold. */
  readonly coldShare: number
  /** Whether a compaction comes by itself when the context is full. */
  readonly compactionComes: boolean
  /** The size that a compaction has to get below. */
  readonly target: number
  /** What has been deleted from the provider's cache so far, in conversations that use cache edits. */
  readonly cacheEdits?: CacheEditState | undefined
}

/** What the model client can do beyond sending messages. */
export type ClientAbilities = {
  /** Deletes parts of a cached prefix (not in the public Messages API). */
  readonly cacheEdits: boolean
  /** Takes `context_management`. */
  readonly contextManagement: boolean
  /** Summarizes on the server: when a threshold is passed, on demand. */
  readonly compaction?: 'none' | 'by-threshold' | 'on-demand'
}

export type PlannedItem = {
  readonly type: 'result' | 'attachment' | 'range' | 'thinking'
  /** The tool use whose result goes. */
  readonly toolUseId?: string
  readonly tool?: string
  readonly path?: string
  /** Where the original stays. */
  readonly uuids: readonly string[]
  /** Index of the message in the view. */
  readonly message: number
  /** What it weighs by the rule of the mechanism: an image 2,000. */
  readonly tokens: number
  /** What is gained, by the counter, with what stands in its place taken off. */
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
  /** The sum: what it saves and what it costs in cache. */
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
  /** For a person, with the numbers. */
  readonly detail: string
  /** The sum, where it was the reason. */
  readonly worth?: Worth
}

/** What is added to the next request, in the words of the API. */
export type RequestOptions = {
  readonly contextManagement?: { readonly edits: readonly JsonObject[] }
  readonly betas?: readonly string[]
  /** All that are pinned, old and new: they are relative to the cached prefix and go with every request. */
  readonly cacheEdits?: readonly CacheEdit[]
  /**
   * Tool uses whose results the server leaves out from now on, those of before included. Like cache edits they go with
   * every later request: a result that came back, or one more that went, would break the cache each time.
   */
  readonly leftOut?: readonly string[]
}

export type CacheEdit = { readonly type: 'delete'; readonly cache_reference: string }

/** Why a compaction runs: a person, the threshold, its price, an overflow, a smaller model, or work done in advance. */
export type CompactionCause = 'person' | 'threshold' | 'economy' | 'overflow' | 'model-switch' | 'background'

/** What a person wants summarized; everything when neither is given. Both are uuids of entries. */
export type CompactRange = { readonly from?: string; readonly upTo?: string }

/** What a running mechanism gets. */
export type MechanismContext = {
  readonly view: View
  readonly situation: Situation
  readonly trigger: Trigger
  readonly cause: CompactionCause
  readonly instructions: string
  readonly range: CompactRange
  /** The new size must be below this. */
  readonly target: number
  /** The turn's own request, as it would be sent: a summary can share its cache. */
  readonly request: () => ModelRequest
  readonly chain: ChainInfo
  readonly place: RecordPlace
  /** What the user typed while the agent worked, as far as no message holds it. */
  readonly queued: readonly QueuedWords[]
  readonly size: ContextSize
  /** The part of the size that no compaction can reduce: system prompt and tools. */
  readonly overhead: number
  readonly counting: Counting
  readonly turnId: string
  /**
   * Measures a compaction's records (boundary, summary, attachments, hook results) and appends all of them or none.
   * Refuses a compaction that frees too little, with the numbers.
   */
  readonly commit: (records: readonly JsonObject[]) => Promise<CommitResult>
  /** The record behind an entry of the view. */
  readonly record: (uuid: string) => JsonObject | undefined
  /** What the session restores after a compaction. */
  readonly restore?: Restore | undefined
  readonly ports: CompactionPorts
  readonly signal?: AbortSignalPort | undefined
}

/** Where new records are attached. */
export type RecordPlace = {
  /** The newest entry of the chain. */
  readonly tip: string | null
  readonly sessionId: string
  /** What the client puts on each record: cwd, version, gitBranch … */
  readonly envelope: JsonObject
  /** The transcript's path, to be mentioned in texts. */
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
    }

/** About a compaction that was committed. */
export type CompactionReport = {
  readonly mechanism: string
  /** Of the summary. */
  readonly usage: TokenCounts
  readonly cost?: number | undefined
  readonly restored: number
  /** What was tried on the way to it. */
  readonly tried?: readonly Tried[]
  /** For the person. */
  readonly notices?: readonly string[]
}

export function declined(mechanism: string, why: DeclineReason, detail: string): Declined {
  return { type: 'declined', mechanism, why, detail }
}
