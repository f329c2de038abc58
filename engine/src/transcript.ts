// everlong/transcript: reading agent sessions, pure. Give it records; reading files is everlong/node.

export { type RequestChoices, type RequestMessages, requestMessages } from './core/request/from-view.ts'
export { type Answer, type AnswerLine, readAnswerLine } from './core/transcript/format/answers.ts'
export { type Boundary, type Kept, readBoundary } from './core/transcript/format/boundary.ts'
export { type DecodedLine, decodeLine } from './core/transcript/format/decode.ts'
export {
  type Edit,
  type EditCause,
  type EditPlace,
  type EditType,
  editRecord,
  readEdit,
} from './core/transcript/format/edits.ts'
export { type Entry, type Head, headOf, type Position } from './core/transcript/format/entry.ts'
export { createTranscriptReader, type Format, formatOf } from './core/transcript/format/foreign/reader.ts'
export { messagesOf } from './core/transcript/format/messages.ts'
export { isSynthetic, originOf } from './core/transcript/format/origin.ts'
export type { Compaction, Epoch } from './core/transcript/report/epochs.ts'
export { type Finding, findingsOf } from './core/transcript/report/findings.ts'
export {
  createStatisticsBook,
  type ModelTokens,
  type SessionKind,
  type Statistics,
  type SummaryRound,
} from './core/transcript/report/statistics.ts'
export { type Tally, tallyOf } from './core/transcript/report/tally.ts'
export type { TurnEnd } from './core/transcript/report/turns.ts'
export { type EntryTable, type EntryType, isSidechainAt, typeAt } from './core/transcript/tree/entry-table.ts'
export { type BoundaryAt, type Graph, lineageOf } from './core/transcript/tree/graph.ts'
export { type LiveWindow, liveWindow } from './core/transcript/tree/live.ts'
export { createScanner, isTranscript, type Scan, type Scanner } from './core/transcript/tree/scan.ts'
export { createFold, type Fold, foldEntries, type View } from './core/transcript/view/fold.ts'
export type { Source } from './core/transcript/view/merge.ts'
