// One interface for everything that makes the context smaller. A mechanism either plans (pure) or runs (asks a model,
// waits). It never writes to the transcript: it returns an outcome, which the session applies.

import type { CacheEditState } from '../cache/cache-watch.ts'
import type { CacheState, Worth } from '../cache/economics.ts'
import type { ModelFacts } from '../catalog/models.ts'
import type { SizedJob } from '../compaction/job.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { Change, Declined, Delegated, Outcome, Reduced } from '../ports/outcome.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { SafeRedact } from '../ports/restore.ts'
import type { ReductionSettings } from '../settings/resolve.ts'
import type { Counting } from '../tokens/estimate/counting.ts'
import type { Explanation } from '../tokens/explain.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Weigher } from './measure.ts'

export type Mechanism = PlanningMechanism | RunningMechanism

/** The two lists of a session. */
export type Mechanisms = {
  /** Before each request. At most one acts, besides the additive ones. */
  readonly reduce: readonly Mechanism[]
  /** When the context is full, or a person asks for it. The last one should never fail. */
  readonly compact: readonly Mechanism[]
}

export type PlanningMechanism = {
  readonly name: string
  /** Pure: the same view and situation give the same plan, and neither is changed. */
  readonly plan: (view: View, situation: Situation) => Plan | PlanDeclined
  /** It only asks the server for something, so it runs in addition to the mechanism that acts. */
  readonly isAdditive?: true
  /** Asks the server to leave something out, so its plan depends on what the client can do. */
  readonly asksServer?: true
  /** A group of the setting `reductions`: the session has this mechanism only if the host sets that group. */
  readonly onlyWith?: keyof ReductionSettings
}

export type RunningMechanism = {
  readonly name: string
  readonly run: (context: MechanismContext) => Promise<Outcome>
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
  /** The same for a cache of five minutes and for one of an hour. */
  readonly coldShares: { readonly short: number; readonly long: number }
  /** Whether a compaction runs automatically when the context is full. */
  readonly compactionComes: boolean
  /** Whether a request for a summary reads the conversation from the prompt cache. */
  readonly sharesCache: boolean
  /** The size that a compaction has to get below. */
  readonly target: number
  /** What was deleted from the provider's cache so far. */
  readonly cacheEdits?: CacheEditState | undefined
  /** Replaces secrets in what a stub quotes. */
  readonly redact?: SafeRedact | undefined
}

/** What the model client can do beyond sending messages. */
export type ClientAbilities = {
  /** Deletes parts of a cached prefix (not in the public Messages API). */
  readonly cacheEdits: boolean
  /** Takes `context_management`. */
  readonly contextManagement: boolean
}

/** A change with everything that a person may ask about it. */
export type Plan = (Reduced | Delegated) & Required<Change> & { readonly mechanism: string }

/** `worth`: present if the price was the reason. */
export type PlanDeclined = Declined<DeclineReason> & { readonly worth?: Worth }

/** Why a planning mechanism has nothing to do now. */
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

/** Why a compaction runs. */
export type CompactionCause =
  | 'person'
  | 'threshold'
  | 'economy' // it pays before the threshold
  | 'agent' // the model asked for it
  | 'idle' // the cache is about to expire
  | 'overflow'
  | 'model-switch'
  | 'background' // work done in advance

/** Uuids of the entries to summarize; everything if neither is given. */
export type CompactRange = { readonly from?: string; readonly upTo?: string }

/** What a running mechanism gets: the compaction as the session would run it, and how to reach the outside. */
export type MechanismContext = SizedJob & {
  readonly situation: Situation
  readonly reason: CompactionCause
  readonly instructions: string
  readonly range: CompactRange
  readonly target: number
  readonly counting: Counting
  readonly ports: CompactionPorts
  readonly signal?: AbortSignalPort | undefined
}
