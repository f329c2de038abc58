// everlong/internal/compaction: unstable, like everlong/internal. Pure: mechanisms, compaction, session memory, measuring.

export { type CacheWatch, freshWatch, missedBecause, watchAnswer } from './core/cache/cache-watch.ts'
export {
  type CacheState,
  cacheLifetimes,
  cacheStateOf,
  lifetimeWritten,
  missCost,
  type Worth,
} from './core/cache/economics.ts'
export { sourceText } from './core/compaction/check.ts'
export { piCompaction, piCompactionRecord } from './core/compaction/foreign.ts'
export type { Compaction, CompactionJob } from './core/compaction/job.ts'
export { contextsOf, topicOf } from './core/compaction/lost/contexts.ts'
export { lostIn } from './core/compaction/lost/lost.ts'
export type { CompactionPlan } from './core/compaction/plan.ts'
export { type RunOptions, runCompaction } from './core/compaction/run.ts'
export type { Ledger } from './core/ledger/facts.ts'
export { createLedger } from './core/ledger/ledger.ts'
export { type ExplainedReduction, explainReductions, reductions, worthInWords } from './core/mechanisms/lists.ts'
export { createWeigher, turnsIn, type Weigher } from './core/mechanisms/measure.ts'
export type { DeclineReason } from './core/mechanisms/mechanism.ts'
export { microByCacheEdit } from './core/mechanisms/micro.ts'
export { type SituationInput, situationOf } from './core/mechanisms/situation.ts'
export { type Extraction, extractNotes } from './core/memory/extract.ts'
export { afterExtraction, type Notes, parseNotes, renderNotes } from './core/memory/notes.ts'
export { contextTokens } from './core/message/usage.ts'
export type { CompactionPhase } from './core/ports/events.ts'
export { type FidelityReport, type Hooks, noHooks, noOutcome } from './core/ports/hooks.ts'
export type { PlannedItem, RequestOptions, ThinkingOutcome, Tried } from './core/ports/outcome.ts'
export type { CompactionPorts } from './core/ports/ports.ts'
export { describeWorkspace } from './core/ports/workspace.ts'
export { readContinuation } from './core/prompts/continuation.ts'
export { emptyNotes } from './core/prompts/memory.ts'
export { sectionTitles } from './core/prompts/summary.ts'
export { explainTranscript } from './core/session/explain-transcript.ts'
export { appliedEdits } from './core/session/server-side.ts'
export type { Preparation } from './core/session/session-api.ts'
export type { PurposeUsage } from './core/session/tracking.ts'
export { compactionJobAt, type Transcript, transcriptOfRecords } from './core/session/transcript.ts'
export { compactionOff, type ReductionChoices } from './core/settings/resolve.ts'
export { contentWords, holdsWords, plainWords } from './core/text/plain-words.ts'
export { type Breakdown, bookMessage, breakdown, type Kind, type KindTokens } from './core/tokens/breakdown.ts'
export { type ContextSize, modelOf } from './core/tokens/context-size.ts'
export { recalibrate, scaled, uncalibrated } from './core/tokens/estimate/counting.ts'
export type { ContextState, Explanation, Figure } from './core/tokens/explain.ts'
export { endingNow, type Prediction, predictCompaction, whereCompactionsWouldFall } from './core/tokens/predict.ts'
export { compactionEstimates, createStatisticsBook } from './core/transcript/report/statistics.ts'
