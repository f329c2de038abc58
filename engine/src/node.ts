// everlong/node: sessions on disk, with hooks, archive and recall; and reading, repairing and writing transcripts.

// Sessions

export type { HookFunction } from './node/hooks/hooks.ts'
export { type HookSettings, readHookSettings } from './node/hooks/settings.ts'
export { eventLog } from './node/session/event-log.ts'
export { workspaceFiles } from './node/session/session-files.ts'
export { sessionFolder } from './node/session/session-folder.ts'
export { openMemory, type SessionMemory } from './node/session/session-memory.ts'
export { gitWorkspace } from './node/session/workspace.ts'
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type EngineSession,
  type SessionOptions,
} from './node-engine.ts'

export { jsonlSessions } from './stores/disk/jsonl.ts'

// Archive and recall

export type { Embedder } from './core/ports/embedder.ts'
export { type Archive, type ArchiveOptions, archiveFolder, openArchive } from './node/archive/archive.ts'
export type { CaughtUp } from './node/archive/catch-up.ts'
export type { SearchQuery } from './node/archive/find.ts'
export type { Reading } from './node/archive/originals.ts'
export type { Match, MeaningResult, SearchResult } from './node/archive/search.ts'
export { cardLine } from './node/recall/cards.ts'
export { parseSearch } from './node/recall/input.ts'
export { createRecallTool, createRecallTools, type RecallTool } from './node/recall/tool.ts'

// Reading transcripts

export type { LostFact, LostType } from './core/compaction/lost/facts.ts'
export type { Lost, LostCompaction } from './core/compaction/lost/lost.ts'
export {
  type MissingOptions,
  missingFromSummary,
  type SummarySource,
  summarySource,
} from './core/compaction/missing.ts'
export { type Compacted, leftOutNote, leftOutText, rulesText } from './node/after-compaction.ts'
export { markAt } from './node/index/cache-place.ts'
export { indexFolder, openIndex } from './node/index/sidecar.ts'
export { type FileScan, forEachEntry, scanFile } from './node/read/entries.ts'
export { type FsckReport, fsck } from './node/read/fsck.ts'
export { type LedgerFile, readLedger } from './node/read/ledger-file.ts'
export { type LiveFile, openLive } from './node/read/live-file.ts'
export { type LostFile, lostOfRecords, readLost } from './node/read/lost-file.ts'
export {
  compactionJobAt,
  forEachRecordAt,
  openSessionAt,
  type SessionAt,
  sessionOfRecords,
} from './node/read/session-at.ts'
export { collectingStatistics, type FolderStatistics, findTranscripts, type StatsOptions } from './node/read/stats.ts'
export { findSubagents, type SubAgents } from './node/read/subagents.ts'
export { openView, type ViewFile } from './node/read/view-file.ts'

// Writing them

export { acquireLease } from './node/lease/lease.ts'
export { applyEdits } from './node/write/apply-edits.ts'
export { diskProblem } from './node/write/disk.ts'
export { originalResults, type StoredResults, storeResults } from './node/write/keep-results.ts'
export { type RepairReport, repair } from './node/write/repair.ts'
export { writeNewTranscript } from './node/write/whole-file.ts'
export { openWriter, type TranscriptWriter } from './node/write/writer.ts'
