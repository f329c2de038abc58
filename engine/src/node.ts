// everlong/node: sessions and transcripts on disk, hooks, archive and recall.

export { pointedId, recallPointer } from './core/prompts/recall.ts'
export { type PieceKind, pieceKinds } from './core/transcript/format/record-pieces.ts'
export { type Archive, type ArchiveOptions, archiveFolder, openArchive } from './node/archive/archive.ts'
export type { CatchUpOptions, CaughtUp } from './node/archive/catch-up.ts'
export type { Match, SearchResult } from './node/archive/matches.ts'
export type { Original, OriginalResult } from './node/archive/originals.ts'
export type { Reading } from './node/archive/reading.ts'
export type { Card } from './node/archive/rows.ts'
export type { SearchQuery } from './node/archive/search.ts'
export type { HookChoices } from './node/hooks/for-session.ts'
export { createHooks, type HookFunction, type HooksOptions } from './node/hooks/hooks.ts'
export { type HookSettings, type HookSettingsRead, readHookSettings } from './node/hooks/settings.ts'
export { type IndexOptions, type IndexRow, indexFolder, openIndex, type TranscriptIndex } from './node/index/sidecar.ts'
export {
  acquireLease,
  type Holder,
  type Lease,
  type LeaseLost,
  type LeaseOptions,
  type LeasePorts,
  type LeaseResult,
  type LeaseState,
} from './node/lease/lease.ts'
export type { Processes, ProcessMark } from './node/lease/processes.ts'
export { type CompactAtOptions, compactionJobAt } from './node/read/compact-at.ts'
export { forEachEntry, type LineProblem, type ReadReport } from './node/read/entries.ts'
export { type FsckReport, fsck } from './node/read/fsck.ts'
export { type LiveFile, openLive } from './node/read/live-file.ts'
export { type FileScan, scanFile } from './node/read/scan-file.ts'
export {
  forEachRecordAt,
  type NoSessionAt,
  openSessionAt,
  type SessionAt,
  type SessionAtOptions,
} from './node/read/session-at.ts'
export {
  collectingStatistics,
  collectStatistics,
  type FolderStatistics,
  findTranscripts,
  type Plan,
  type StatsOptions,
  type StatsProgress,
  type Unreadable,
} from './node/read/stats.ts'
export { findSubagents, type SubAgent, type SubAgents } from './node/read/subagents.ts'
export { openView, type ViewFile, type ViewFileOptions } from './node/read/view-file.ts'
export { cardLine } from './node/recall/cards.ts'
export { parseSearch, type Refused, type SearchRequest } from './node/recall/input.ts'
export {
  createRecallTool,
  createRecallTools,
  type RecallOptions,
  type RecallTool,
  type ToolOutput,
} from './node/recall/tool.ts'
export { type EventLogOptions, eventLog } from './node/session/event-log.ts'
export { sessionFolder } from './node/session/session-folder.ts'
export { type MemoryPorts, openMemory, type SessionMemory } from './node/session/session-memory.ts'
export { type GitWorkspaceOptions, gitWorkspace } from './node/session/workspace.ts'
export { type WorkspaceOptions, workspaceFiles } from './node/session/workspace-files.ts'
export { type AppliedEdits, type ApplyOptions, applyEdits } from './node/write/apply-edits.ts'
export { type BlobStore, type GetResult, openBlobs, type PutResult, type StoreFailed } from './node/write/blobs.ts'
export { type Disk, type DiskProblem, diskProblem } from './node/write/disk.ts'
export { type NewTranscript, writeNewTranscript } from './node/write/new-transcript.ts'
export type { RecordProblem } from './node/write/record-lines.ts'
export { type RepairOutcome, type RepairReport, repair } from './node/write/repair.ts'
export { originalResults, type StoredResults, storeResults, type ToolResult } from './node/write/stored-results.ts'
export {
  type AppendResult,
  type FlushResult,
  type OpenResult,
  openWriter,
  type SyncFailed,
  type TranscriptWriter,
  type WriterOptions,
} from './node/write/writer.ts'
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type EngineSession,
  type SessionOptions,
} from './node-engine.ts'
