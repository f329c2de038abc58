// everlong/internal: imports for the other packages of this project. Unstable: names change without notice, so do not use it.
// Pure and quick to load: messages, records, views, facts about models.

export { costOf } from './core/cache/economics.ts'
export { knownModels, type ModelFacts, mediaLimit, modelFacts, priceOf } from './core/catalog/models.ts'
export { arrayAt, isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from './core/message/json.ts'
export {
  blocksOf,
  isRequest,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  pairHalfOf,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
  type ViewMessage,
} from './core/message/message.ts'
export { shapeOf } from './core/message/shape.ts'
export type { AbortSignalPort } from './core/ports/model.ts'
export { readContinuation } from './core/prompts/continuation.ts'
export { checkRequest } from './core/request/check-request.ts'
export { overflowOfAnswer, readRefusal } from './core/request/refusal.ts'
export { repairRequest, requestMessages } from './core/request/repair.ts'
export { checkSettings, type SettingProblem } from './core/settings/check.ts'
export { mergeSettings } from './core/settings/resolve.ts'
export { clippedAtWord, headOf as headOfText, tailOf as tailOfText } from './core/text/cut.ts'
export { withoutSecrets } from './core/text/secrets.ts'
export { readBoundary } from './core/transcript/format/compaction-records.ts'
export { decodeLine } from './core/transcript/format/decode.ts'
export { editRecord, readEdit } from './core/transcript/format/edits.ts'
export { isPostCompact, readHead } from './core/transcript/format/entry.ts'
export { messageOf, messagesOf, originOf, readAnswerLine } from './core/transcript/format/messages.ts'
export { createTranscriptReader, type Format } from './core/transcript/format/reader.ts'
export { textKinds } from './core/transcript/format/record-texts.ts'
export { type Finding, findingsOf, type Tally, tallyOf } from './core/transcript/report/findings.ts'
export type { ModelTokens, Statistics } from './core/transcript/report/statistics.ts'
export { lastAction } from './core/transcript/tree/changes.ts'
export { isSidechainAt, typeAt } from './core/transcript/tree/graph.ts'
export { type LiveWindow, liveWindow } from './core/transcript/tree/live.ts'
export { ancestryOf, createScanner, type Epoch, isTranscript, type Scan } from './core/transcript/tree/scan.ts'
export { pinProblem } from './core/transcript/view/effects.ts'
export { createFold, type Fold, foldEntries } from './core/transcript/view/fold.ts'
export { type ModelPorts, systemPorts } from './models/ports.ts'
export type { RetryPolicy } from './models/retry.ts'
