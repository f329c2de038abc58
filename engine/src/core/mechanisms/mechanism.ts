// One interface for everything that makes the context smaller. A mechanism either plans (pure) or runs (asks a model or waits).
// It never writes to the transcript: it returns an outcome, which the session applies.

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
  /** Tried before each request. At most one acts, not counting the additive ones. */
  readonly reduce: readonly Mechanism[]
  /** Tried when the context is full or when a person asks. The last one should never fail. */
  readonly compact: readonly Mechanism[]
}

export type PlanningMechanism = {
  readonly name: string
  /** Pure: the same view and situation give the same plan. Must not change either. */
  readonly plan: (view: View, situation: Situation) => Plan | PlanDeclined
  /** It only sends options to the server, so it runs in addition to the mechanism that acts. */
  readonly isAdditive?: true
  /** It asks the server to omit something, so its plan depends on the client's abilities. */
  readonly asksServer?: true
  /** A group of the setting `reductions`. A session has this mechanism only if the host sets that group. */
  readonly onlyWith?: keyof ReductionSettings
}

export type RunningMechanism = {
  readonly name: string
  readonly run: (context: MechanismContext) => Promise<Outcome>
}

/** Everything besides the view that a mechanism may use. */
export type Situation = {
  readonly explanation: Explanation
  /** Plans are made and checked with this weigher. */
  readonly weigher: Weigher
  readonly cache: CacheState
  /** Milliseconds since 1970. */
  readonly now: number
  readonly model: ModelFacts | undefined
  readonly client: ClientAbilities
  /** Whether the next request turns thinking on. If it does not, the API refuses to manage thinking. */
  readonly thinks: boolean
  readonly settings: ReductionSettings
  /** Expected number of further requests. Estimated from the growth if absent. */
  readonly expectedTurns?: number | undefined
  /** Tokens by which the context grows per request. Absent if unknown. */
  readonly growth?: number | undefined
  /** The smallest context that was reported, which is about the size after the next compaction. */
  readonly base?: number | undefined
  readonly isCompacted: boolean
  /** The share of future requests that will find the cache cold. */
  readonly coldShare: number
  /** The cold share with a cache lifetime of five minutes, and of one hour. */
  readonly coldShares: { readonly short: number; readonly long: number }
  /** Whether a compaction runs automatically when the context is full. */
  readonly compactionComes: boolean
  /** Whether a request for a summary reads the conversation from the prompt cache. */
  readonly sharesCache: boolean
  /** A compaction has to get below this size. */
  readonly target: number
  /** Deletions from the provider's cache so far. */
  readonly cacheEdits?: CacheEditState | undefined
  /** Replaces secrets in the quotations of a stub. */
  readonly redact?: SafeRedact | undefined
}

/** Abilities of the model client besides sending messages. */
export type ClientAbilities = {
  /** Deletes parts of a cached prefix (not in the public Messages API). */
  readonly cacheEdits: boolean
  /** Accepts `context_management`. */
  readonly contextManagement: boolean
}

/** A change, and the details that a person may ask about. */
export type Plan = (Reduced | Delegated) & Required<Change> & { readonly mechanism: string }

/** `worth` is present if the plan was declined because of its price. */
export type PlanDeclined = Declined<DeclineReason> & { readonly worth?: Worth }

/** Why a planning mechanism has nothing to do now. */
export type DeclineReason =
  | 'turned-off'
  | 'below-warning'
  | 'below-commit' // staged summaries wait for a fuller window
  | 'nothing-to-do'
  | 'too-little' // too little to justify a broken cache
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

/** Uuids of the first and last entry to summarize. Summarizes everything if neither is given. */
export type CompactRange = { readonly from?: string; readonly upTo?: string }

/** Input of a running mechanism: the compaction that the session would run, and its ports. */
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
