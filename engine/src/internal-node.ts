// everlong/internal/node: unstable, like everlong/internal. Reads, repairs, searches and writes transcripts on disk.

export type { LostFact, LostType } from './core/compaction/lost/candidates.ts'
export {
  countGivenBack,
  type GivenBack,
  missingFromSummary,
  type SummarySource,
  summarySource,
} from './core/compaction/missing.ts'
export { cardLine, parseSearch, type SearchQuery } from './core/session/recall-text.ts'
export { type RecallSource, recallTools, type SlowRecallTool } from './core/session/recall-tool.ts'
export { recallIn } from './core/session/stored-session.ts'
export {
  compactionJobAt,
  type Transcript,
  transcriptOfRecords,
} from './core/session/transcript.ts'
export { leftOutNote, leftOutText, rulesText, sourceIn } from './node/after-compaction.ts'
export type { Match, SearchResult } from './node/archive/archive.ts'
export type { CaughtUp } from './node/archive/catch-up.ts'
export type { Reading } from './node/archive/originals.ts'
export { cacheFolder, markAt } from './node/index/cache-place.ts'
export { openIndex } from './node/index/sidecar.ts'
export { acquireLease } from './node/lease/lease.ts'
export { type FileScan, forEachEntry, scanFile } from './node/read/entries.ts'
export { readLedger } from './node/read/ledger-file.ts'
export {
  collectingStatistics,
  type FolderStatistics,
  type FoundSession,
  findSessions,
  findTranscripts,
  type StatsOptions,
  type Unreadable,
} from './node/read/stats.ts'
export { findSubagents, type SubAgents } from './node/read/subagents.ts'
export { forEachRecordAt, openLive, readTranscript } from './node/read/transcript.ts'
export { type LostFile, lostInFile, lostInTranscript } from './node/read/transcript-lost.ts'
export { createRecallTools } from './node/recall/tool.ts'
export { safeGit } from './node/safe-git.ts'
export { sessionFolder } from './node/session/session-folder.ts'
export { openMemory, type SessionMemory } from './node/session/session-memory.ts'
export { applyEdits } from './node/write/apply-edits.ts'
export { diskProblem, replaceFile, whyUnreadable, writeNewTranscript } from './node/write/disk.ts'
export { originalResults, type StoredResults, storeResults } from './node/write/keep-results.ts'
export { type FsckReport, fsck, type RepairReport, repair } from './node/write/repair.ts'
export { heldMessage, openWriter } from './node/write/writer.ts'
export type { ReadFile } from './node-engine.ts'
export { type Connection, connect, type Query, unbreakable } from './stores/postgres/connection.ts'
export { type Migrations, migrate } from './stores/postgres/migrations.ts'

/** The code is loaded on the first call, because hooks must start fast and read no sessions. */
export const readFile: typeof import('./node-engine.ts').readFile = async (path, options) => {
  const engine = await import('./node-engine.ts')
  return engine.readFile(path, options)
}
