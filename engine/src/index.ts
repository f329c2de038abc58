// The public names, one by one.

export { type CompactMessagesOptions, type CompactOutcome, compact } from './compact.ts'

export {
  type AnswerSeen,
  afterCompaction,
  type BreakCause,
  type CacheBreak,
  type CacheWatch,
  type Diagnosis,
  freshWatch,
  type Watched,
  watchAnswer,
} from './core/cache/break-detector.ts'
export { type Worth, type WorthInput, worthOf } from './core/cache/economics.ts'
export {
  afterAnswer,
  afterCacheBreak,
  type CacheEditState,
  noCacheEdits,
  withDeleted,
  withSeen,
} from './core/cache/edit-state.ts'
export { createFingerprinter, type Fingerprint, type RequestParts } from './core/cache/fingerprint.ts'
export { type CostOptions, costOf } from './core/cache/prices.ts'
export { type CacheState, type CacheStateInput, cacheLifetimes, cacheStateOf } from './core/cache/state.ts'
export { cachePrices, knownModels, type ModelFacts, mediaLimit, modelFacts, priceOf } from './core/catalog/models.ts'
export {
  type Compacted,
  type CompactionFailed,
  type CompactionJob,
  type CompactionResult,
  type CompactionSettings,
  defaultCompaction,
  type PartialChoice,
} from './core/compaction/job.ts'
export { type CompactionPlan, planCompaction } from './core/compaction/plan.ts'
export { runCompaction } from './core/compaction/run.ts'
export type { Breaker } from './core/ladder/breaker.ts'
export { type CompactRungOptions, compactRung } from './core/ladder/compact-rung.ts'
export type { CompactionDone, CompactionNotDone } from './core/ladder/compaction.ts'
export type { CompactionMode, GuardReason } from './core/ladder/guards.ts'
export type { Ladder, LadderTrigger } from './core/ladder/ladder.ts'
export { defaultLadder } from './core/ladder/ladder.ts'
export type { Blocked, PrepareOptions, Ready } from './core/ladder/prepare.ts'
export type { Recovery } from './core/ladder/recovery.ts'
export { emptyLedger, type Ledger } from './core/ledger/facts.ts'
export { fromJson as ledgerFromJson, toJson as ledgerToJson } from './core/ledger/json.ts'
export { createLedger, type LedgerBook } from './core/ledger/ledger.ts'
export { type CollapseState, collapse, collapseState, type Staged } from './core/mechanisms/collapse/collapse.ts'
export { finishedSpans, type Span } from './core/mechanisms/collapse/spans.ts'
export { type StageInput, type Staging, stageCollapse } from './core/mechanisms/collapse/stage.ts'
export type {
  CacheEdit,
  ClientAbilities,
  CompactionCause,
  CompactionReport,
  CompactRange,
  Declined,
  DeclineReason,
  Mechanism,
  MechanismContext,
  MechanismContext as RungContext,
  MechanismResult,
  MechanismResult as RungResult,
  Plan,
  PlannedItem,
  PlanningMechanism,
  RecordPlace,
  RequestOptions,
  RunningMechanism,
  RunningMechanism as Rung,
  Situation,
  ThinkingOutcome,
} from './core/mechanisms/mechanism.ts'
export { microByCacheEdit, pinnedCacheEdits } from './core/mechanisms/micro/by-cache-edit.ts'
export { microByIdle } from './core/mechanisms/micro/by-idle.ts'
export { microBySize } from './core/mechanisms/micro/by-size.ts'
export { native } from './core/mechanisms/native/native.ts'
export { appliedEdits, serverCleared } from './core/mechanisms/native/server-cleared.ts'
export { type ServerCompactionInput, serverCompaction } from './core/mechanisms/native/server-compaction.ts'
export {
  type ExplainedReduction,
  explainReductions,
  reductions,
  worthInWords,
} from './core/mechanisms/reductions.ts'
export {
  defaultReductions,
  type ReductionChoices,
  type ReductionSettings,
  reductionSettings,
} from './core/mechanisms/settings.ts'
export { type SituationInput, situationOf } from './core/mechanisms/situation.ts'
export { editedSize, viewSize } from './core/mechanisms/size.ts'
export { type SnipInput, snip } from './core/mechanisms/snip.ts'
export { createWeigher, type Weigher } from './core/mechanisms/weigher.ts'
export {
  type ExtractInput,
  type Extraction,
  extractionRequest,
  extractNotes,
} from './core/memory/extract.ts'
export { type NoteSection, type Notes, parseNotes, renderNotes } from './core/memory/notes.ts'
export {
  type MemoryDecline,
  type MemoryKeep,
  type MemoryPlan,
  type MemoryPlanInput,
  planFromMemory,
} from './core/memory/plan.ts'
export {
  afterCompaction as memoryAfterCompaction,
  afterExtraction,
  afterFailure,
  defaultMemory,
  isDue,
  type MemoryProgress,
  type MemorySettings,
  noProgress,
} from './core/memory/trigger.ts'
export {
  type Block,
  blocksOf,
  type Content,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from './core/message/block.ts'
export {
  answerCuts,
  type CutMessage,
  type CutOptions,
  type CutSet,
  cutAfter,
  cutBefore,
  intersection,
  legalCuts,
  loopCuts,
  openingCuts,
  pairCuts,
  thinkingCuts,
} from './core/message/cut-points.ts'
export { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from './core/message/json.ts'
export { isRequest, type Message, type Origin, type Role, type ViewMessage } from './core/message/message.ts'
export { type Pair, pairHalfOf, pairsOf } from './core/message/pairing.ts'
export { type Round, roundsOf, type Stretch, turnsOf, widened } from './core/message/rounds.ts'
export { shapeOf } from './core/message/shape.ts'
export { contextTokens, type TokenCounts, type Usage } from './core/message/usage.ts'
export { describeWorkspace } from './core/ports/describe-workspace.ts'
export type {
  ChainInfo,
  CompactionFailure,
  CompactionPhase,
  Emit,
  EngineEvent,
  Tried,
} from './core/ports/events.ts'
export type { FidelityReport } from './core/ports/fidelity.ts'
export type { FileRead, FileStore } from './core/ports/files.ts'
export { type HookCall, type HookOutcome, type Hooks, noHooks, noOutcome, type Trigger } from './core/ports/hooks.ts'
export type {
  AbortSignalPort,
  CountedTokens,
  DescribedModel,
  FailureReason,
  ModelAnswer,
  ModelCapabilities,
  ModelClient,
  ModelFailure,
  ModelRequest,
  Overflow,
  QuerySource,
  SendOptions,
  StreamEvent,
} from './core/ports/model.ts'
export type { CommitResult, CompactionPorts } from './core/ports/ports.ts'
export type { NotRestored, Piece, Restoration, Restore, Restored, RestoreRequest } from './core/ports/restore.ts'
export { StoreError } from './core/ports/store.ts'
export type {
  Capped,
  Commit,
  NoWorkspaceState,
  Since,
  Workspace,
  WorkspaceFile,
  WorkspaceQuery,
  WorkspaceState,
} from './core/ports/workspace.ts'
export { type ContinuationInput, continuationText } from './core/prompts/continuation.ts'
export { emptyNotes } from './core/prompts/memory.ts'
export { type SummaryPromptInput, type SummaryVariant, sectionTitles, summaryPrompt } from './core/prompts/summary.ts'
export { checkRequest, type Problem } from './core/request/check-request.ts'
export type { Repair } from './core/request/draft.ts'
export { type Repaired, type RepairOptions, repairRequest } from './core/request/repair.ts'
export { createRepairer, type Repairer } from './core/request/repairer.ts'
export { defaultRestorers, type RestoreOptions, restoreContext } from './core/restore/restore.ts'
export type { RestoreInput, Restorer } from './core/restore/restorer.ts'
export { createSeenFiles, type SeenFile, type SeenFiles, seenFileStore } from './core/restore/seen-files.ts'
export { type BackgroundAgent, emptyState, type SessionState, type Skill } from './core/restore/state.ts'
export { createStateBook, type StateBook } from './core/restore/state-book.ts'
export { type TouchedFile, type TouchedOptions, touchedFiles } from './core/restore/touched.ts'
export type { CleanUp } from './core/session/callbacks.ts'
export { type ContextNote, readContextNote } from './core/session/context-note.ts'
export type { ModelChoice, RequestBase } from './core/session/gauge.ts'
export type { InputAnswer as GivenAnswer, InputMessage as GivenMessage } from './core/session/input.ts'
export type { EditOutcome, Switched, UndoOutcome } from './core/session/manual-edits.ts'
export type { Recalled, RecallMatch } from './core/session/recall.ts'
export type { HostState } from './core/session/restoring.ts'
export type { Ask, MemoryState } from './core/session/runtime.ts'
export type {
  CompactOptions,
  Preparation,
  Session,
  SessionExplanation,
  Turn,
  TurnOptions,
} from './core/session/session-types.ts'
export type { EngineSettings, MemoryChoices } from './core/session/settings.ts'
export type { Tracking } from './core/session/tracking.ts'
export type { PurposeUsage as SpentLine, UsageByPurpose as Spent } from './core/session/usage.ts'
export { type Breakdown, type BreakdownInput, breakdown, type KindTokens } from './core/tokens/breakdown.ts'
export { type ContextSize, contextSize, type SizeOptions } from './core/tokens/context-size.ts'
export { type Counter, createCounter } from './core/tokens/counter.ts'
export type { EstimatorName } from './core/tokens/estimate/blocks.ts'
export {
  type Calibration,
  type Calibrations,
  type Comparison,
  calibrationOf,
  recalibrate,
  recalibrateModel,
  seedCalibration,
  uncalibrated,
} from './core/tokens/estimate/calibrate.ts'
export { type Counting, countTokens } from './core/tokens/estimate/counting.ts'
export { estimateTokens } from './core/tokens/estimate/estimate.ts'
export { type ContextState, type ExplainInput, type Explanation, explain } from './core/tokens/explain.ts'
export { ConfigurationError, type Figure } from './core/tokens/figure.ts'
export { type Prediction, predictCompaction, type TurnSize, whereCompactionsWouldFall } from './core/tokens/predict.ts'
export { compactionOff, type Environment, type Mark, type TokenSettings } from './core/tokens/settings.ts'
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type EngineSession,
  type SessionOptions,
} from './engine.ts'
export type { AnthropicMessage, OpenAIMessage, PlainMessage } from './plain-messages.ts'
