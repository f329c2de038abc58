// everlong/node: transcripts on disk.

export { pointedId, recallPointer } from '../core/prompts/recall.ts'
export { type PieceKind, pieceKinds } from '../core/transcript/format/record-pieces.ts'
export { type Archive, type ArchiveOptions, archiveFolder, openArchive } from './archive/archive.ts'
export type { CatchUpOptions, CaughtUp } from './archive/catch-up.ts'
export type { Match, SearchResult } from './archive/matches.ts'
export type { Original, OriginalResult, Reading } from './archive/originals.ts'
export type { Card } from './archive/rows.ts'
export type { SearchQuery } from './archive/search.ts'
export type { HookChoices } from './hooks/for-session.ts'
export { createHooks, type HookFunction, type HooksOptions } from './hooks/hooks.ts'
export { type HookSettings, type HookSettingsRead, readHookSettings } from './hooks/settings.ts'
export { type IndexOptions, type IndexRow, indexFolder, openIndex, type TranscriptIndex } from './index/sidecar.ts'
export {
  acquireLease,
  type Holder,
  type Lease,
  type LeaseLost,
  type LeaseOptions,
  type LeasePorts,
  type LeaseResult,
  type LeaseState,
} from './lease/lease.ts'
export type { Processes, ProcessMark } from './lease/processes.ts'
export { type FileScan, forEachEntry, type LineProblem, type ReadReport, scanFile } from './read/entries.ts'
export { type FsckReport, fsck } from './read/fsck.ts'
export { type LiveFile, openLive } from './read/live-file.ts'
export {
  type CompactAtOptions,
  compactionJobAt,
  forEachRecordAt,
  type NoSessionAt,
  openSessionAt,
  type SessionAt,
  type SessionAtOptions,
} from './read/session-at.ts'
export {
  collectingStatistics,
  collectStatistics,
  type FolderStatistics,
  findTranscripts,
  type Plan,
  type StatsOptions,
  type StatsProgress,
  type Unreadable,
} from './read/stats.ts'
export { findSubagents, type SubAgent, type SubAgents } from './read/subagents.ts'
export { openView, type ViewFile, type ViewFileOptions } from './read/view-file.ts'
export { cardLine } from './recall/cards.ts'
export { parseSearch, type Refused, type SearchRequest } from './recall/input.ts'
export {
  createRecallTool,
  createRecallTools,
  type RecallOptions,
  type RecallTool,
  type ToolOutput,
} from './recall/tool.ts'
export { type EventLogOptions, eventLog } from './session/event-log.ts'
export { sessionFolder } from './session/session-folder.ts'
export { type MemoryPorts, openMemory, type SessionMemory } from './session/session-memory.ts'
export { type GitWorkspaceOptions, gitWorkspace } from './session/workspace.ts'
export { type WorkspaceOptions, workspaceFiles } from './session/workspace-files.ts'
export { type AppliedEdits, type ApplyOptions, applyEdits } from './write/apply-edits.ts'
export { type BlobStore, type GetResult, openBlobs, type PutResult, type StoreFailed } from './write/blobs.ts'
export { type Disk, type DiskProblem, diskProblem } from './write/disk.ts'
export { originalResults, type StoredResults, storeResults, type ToolResult } from './write/keep-results.ts'
export { type NewTranscript, writeNewTranscript } from './write/new-transcript.ts'
export type { RecordProblem } from './write/record-lines.ts'
export { type RepairOutcome, type RepairReport, repair } from './write/repair.ts'
export {
  type AppendResult,
  type FlushResult,
  type OpenResult,
  openWriter,
  type SyncFailed,
  type TranscriptWriter,
  type WriterOptions,
} from './write/writer.ts'
