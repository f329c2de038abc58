// everlong/transcript: reading agent sessions, pure. Give it records; reading files is everlong/node.
export { type Answer, type AnswerLine, readAnswerLine } from './core/transcript/answers.ts'
export { type Boundary, type Kept, readBoundary } from './core/transcript/boundary.ts'
export { type DecodedLine, decodeLine } from './core/transcript/decode.ts'
export {
  type Edit,
  type EditCause,
  type EditPlace,
  type EditType,
  editRecord,
  readEdit,
} from './core/transcript/edits.ts'
export { type Entry, type Head, headOf, type Position } from './core/transcript/entry.ts'
export { type EntryTable, type EntryType, isSidechainAt, typeAt } from './core/transcript/entry-table.ts'
export type { Compaction, Epoch } from './core/transcript/epochs.ts'
export { type Finding, findingsOf } from './core/transcript/findings.ts'
export { createFold, type Fold, foldEntries, type View } from './core/transcript/fold.ts'
export { createTranscriptReader, type Format, formatOf } from './core/transcript/formats/reader.ts'
export { type BoundaryAt, type Graph, lineageOf } from './core/transcript/graph.ts'
export { type LiveWindow, liveWindow } from './core/transcript/live.ts'
export type { Source } from './core/transcript/merge.ts'
export { messagesOf } from './core/transcript/messages.ts'
export { isSynthetic, originOf } from './core/transcript/origin.ts'
export {
  createRequester,
  type RequestChoices,
  type Requester,
  type RequestMessages,
  requestMessages,
} from './core/transcript/request.ts'
export { createScanner, isTranscript, type Scan, type Scanner } from './core/transcript/scan.ts'
export {
  createStatisticsBook,
  type ModelTokens,
  type SessionKind,
  type Statistics,
  type SummaryRound,
} from './core/transcript/statistics.ts'
export { type Tally, tallyOf } from './core/transcript/tally.ts'
export type { TurnEnd } from './core/transcript/turns.ts'
