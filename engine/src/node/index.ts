// everlong/node: transcripts on disk.

export { pointedId, recallPointer } from '../core/prompts/recall.ts'
export { type PieceKind, pieceKinds } from '../core/transcript/record-pieces.ts'
export { type AppliedEdits, type ApplyOptions, applyEdits } from './apply-edits.ts'
export { type Archive, type ArchiveOptions, archiveFolder, openArchive } from './archive/archive.ts'
export type { CatchUpOptions, CaughtUp } from './archive/catch-up.ts'
export type { Match, SearchResult } from './archive/matches.ts'
export type { Original, OriginalResult } from './archive/originals.ts'
export type { Reading } from './archive/reading.ts'
export type { Card } from './archive/rows.ts'
export type { SearchQuery } from './archive/search.ts'
export { type BlobStore, type GetResult, openBlobs, type PutResult, type StoreFailed } from './blobs.ts'
export { type CompactAtOptions, compactionJobAt } from './compact-at.ts'
export { type Disk, type DiskProblem, diskProblem } from './disk.ts'
export { forEachEntry, type LineProblem, type ReadReport } from './entries.ts'
export { type EventLogOptions, eventLog } from './event-log.ts'
export { type FsckReport, fsck } from './fsck.ts'
export type { HookChoices } from './hooks/for-session.ts'
export { createHooks, type HookFunction, type HooksOptions } from './hooks/hooks.ts'
export { type HookSettings, type HookSettingsRead, readHookSettings } from './hooks/settings.ts'
export {
  acquireLease,
  type Holder,
  type Lease,
  type LeaseLost,
  type LeaseOptions,
  type LeasePorts,
  type LeaseResult,
  type LeaseState,
} from './lease.ts'
export { type LiveFile, openLive } from './live-file.ts'
export { type NewTranscript, writeNewTranscript } from './new-transcript.ts'
export type { Processes, ProcessMark } from './processes.ts'
export { cardLine } from './recall/cards.ts'
export { parseSearch, type Refused, type SearchRequest } from './recall/input.ts'
export {
  createRecallTool,
  createRecallTools,
  type RecallOptions,
  type RecallTool,
  type ToolOutput,
} from './recall/tool.ts'
export type { RecordProblem } from './record-lines.ts'
export { type RepairOutcome, type RepairReport, repair } from './repair.ts'
export { type FileScan, scanFile } from './scan-file.ts'
export {
  forEachRecordAt,
  type NoSessionAt,
  openSessionAt,
  type SessionAt,
  type SessionAtOptions,
} from './session-at.ts'
export { sessionFolder } from './session-folder.ts'
export { type MemoryPorts, openMemory, type SessionMemory } from './session-memory.ts'
export { type IndexOptions, type IndexRow, indexFolder, openIndex, type TranscriptIndex } from './sidecar.ts'
export {
  collectingStatistics,
  collectStatistics,
  type FolderStatistics,
  findTranscripts,
  type Plan,
  type StatsOptions,
  type StatsProgress,
  type Unreadable,
} from './stats.ts'
export { originalResults, type StoredResults, storeResults, type ToolResult } from './stored-results.ts'
export { findSubagents, type SubAgent, type SubAgents } from './subagents.ts'
export { openView, type ViewFile, type ViewFileOptions } from './view-file.ts'
export { type GitWorkspaceOptions, gitWorkspace } from './workspace.ts'
export { type WorkspaceOptions, workspaceFiles } from './workspace-files.ts'
export {
  type AppendResult,
  type FlushResult,
  type OpenResult,
  openWriter,
  type SyncFailed,
  type TranscriptWriter,
  type WriterOptions,
} from './writer.ts'
