// everlong/transcript: messages, records and views of agent sessions, pure. Reading files is everlong/node.

// Messages and their blocks

export {
  blocksOf,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from './core/message/block.ts'
export { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from './core/message/json.ts'
export { isRequest, type ViewMessage } from './core/message/message.ts'
export { pairHalfOf } from './core/message/pairing.ts'
export { shapeOf } from './core/message/shape.ts'
export { checkRequest } from './core/request/check-request.ts'
export { requestMessages } from './core/request/from-view.ts'
export { repairRequest } from './core/request/repair.ts'

// Records

export { type Boundary, readBoundary } from './core/transcript/format/boundary.ts'
export { decodeLine } from './core/transcript/format/decode.ts'
export { type Edit, editRecord, readEdit } from './core/transcript/format/edits.ts'
export { type Entry, headOf, isPostCompact } from './core/transcript/format/entry.ts'
export { createTranscriptReader, type Format } from './core/transcript/format/foreign/reader.ts'
export { messagesOf, originOf, readAnswerLine } from './core/transcript/format/messages.ts'
export { type PieceKind, pieceKinds } from './core/transcript/format/record-pieces.ts'

// Sessions: tree, live window, view

export { ancestryOf } from './core/transcript/tree/ancestry.ts'
export { isSidechainAt, typeAt } from './core/transcript/tree/entry-table.ts'
export { type LiveWindow, liveWindow } from './core/transcript/tree/live.ts'
export { createScanner, type Epoch, isTranscript, type Scan } from './core/transcript/tree/scan.ts'
export { createFold, type Fold, foldEntries, type View } from './core/transcript/view/fold.ts'

// Reports

export { type Finding, findingsOf, type Tally, tallyOf } from './core/transcript/report/findings.ts'
export type { ModelTokens, Statistics } from './core/transcript/report/statistics.ts'
