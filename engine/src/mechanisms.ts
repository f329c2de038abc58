// everlong/mechanisms: for those who change how a context is measured and made smaller. A host that only runs sessions needs
// none of it.

// Mechanisms

export type {
  Declined,
  DeclineReason,
  Mechanism,
  MechanismContext,
  MechanismResult,
  Plan,
  PlannedItem,
  PlanningMechanism,
  RequestOptions,
  RunningMechanism,
  Situation,
  ThinkingOutcome,
} from './core/mechanisms/mechanism.ts'
export { microByCacheEdit, microByIdle, microBySize } from './core/mechanisms/micro.ts'
export { native, serverCompaction } from './core/mechanisms/native.ts'
export { type SnipInput, snip } from './core/mechanisms/ranges.ts'
export {
  type ExplainedReduction,
  explainReductions,
  reductions,
  worthInWords,
} from './core/mechanisms/reductions.ts'
export { appliedEdits } from './core/mechanisms/server-edits.ts'
export { type SituationInput, situationOf } from './core/mechanisms/situation.ts'
export { editedSize, viewSize } from './core/mechanisms/size.ts'
export { turnsIn } from './core/mechanisms/turns.ts'
export { createWeigher, type Weigher } from './core/mechanisms/weigher.ts'
export { type CompactMechanismOptions, compactMechanism } from './core/session/compact-mechanism.ts'
export type { Ladder, LadderTrigger } from './core/session/ladder.ts'
export type { CompactionSettings, ReductionChoices } from './core/settings/complete.ts'

// Compaction

export { piCompaction, piCompactionRecord } from './core/compaction/foreign.ts'
export type {
  Compacted,
  CompactionJob,
  CompactionResult,
  PartialChoice,
} from './core/compaction/job.ts'
export { type CompactionPlan, planCompaction } from './core/compaction/plan.ts'
export { runCompaction } from './core/compaction/run.ts'
export type { Ledger } from './core/ledger/facts.ts'
export { fromJson as ledgerFromJson, toJson as ledgerToJson } from './core/ledger/json.ts'
export { createLedger } from './core/ledger/ledger.ts'
export type { CompactionPhase, Tried } from './core/ports/events.ts'
export type { FidelityReport } from './core/ports/hooks.ts'
export { noHooks, noOutcome } from './core/ports/hooks.ts'
export type { CompactionPorts } from './core/ports/ports.ts'
export type { Restore } from './core/ports/restore.ts'
export { describeWorkspace } from './core/ports/workspace.ts'
export { sectionTitles } from './core/prompts/summary.ts'
export { defaultRestorers, restoreContext } from './core/restore/restore.ts'
export type { Restorer } from './core/restore/restorer.ts'
export { createSeenFiles, seenFileStore } from './core/restore/seen-files.ts'

// Session memory

export { type Extraction, extractNotes } from './core/memory/extract.ts'
export { type Notes, parseNotes, renderNotes } from './core/memory/notes.ts'
export { afterExtraction } from './core/memory/trigger.ts'
export { emptyNotes } from './core/prompts/memory.ts'

// Measuring

export { type CacheState, cacheStateOf, type Worth } from './core/cache/economics.ts'
export { cutAfter, cutBefore, legalCuts } from './core/message/cut-points.ts'
export { roundsOf, turnsOf } from './core/message/rounds.ts'
export { contextTokens } from './core/message/usage.ts'
export { type ContextNote, readContextNote } from './core/session/context-note.ts'
export type { Preparation } from './core/session/session.ts'
export type { PurposeUsage } from './core/session/tracking.ts'
export { compactionOff } from './core/settings/environment.ts'
export { type Breakdown, breakdown, type KindTokens } from './core/tokens/breakdown.ts'
export { type ContextSize, contextSize } from './core/tokens/context-size.ts'
export { recalibrate, uncalibrated } from './core/tokens/estimate/counting.ts'
export { type ContextState, type Explanation, explain } from './core/tokens/explain.ts'
export type { Figure } from './core/tokens/figure.ts'
export { endingNow, type Prediction, predictCompaction, whereCompactionsWouldFall } from './core/tokens/predict.ts'
