// Made-up sessions for tests and benchmarks: whole ones by seed, small ones by hand, damaged ones. Reads no files.
export type { JsonObject } from '../core/message/json.ts'
export { type Corrupted, type CorruptionKind, corrupt, corruptionKinds } from './corrupt.ts'
export { type CodexRollout, type CodexTruth, generateCodexRollout } from './foreign/codex.ts'
export { generatePiSession, type PiOptions, type PiSession, type PiTruth } from './foreign/pi.ts'
export type { SmallSessionOptions } from './foreign/setting.ts'
export { generateTalk, type Talk, type TalkOptions, type TalkTruth, talkFormats } from './foreign/talk.ts'
export { mulberry32, type Random, random } from './random.ts'
export {
  type AnswerChoices,
  type BoundaryChoices,
  type BuilderOptions,
  type LineChoices,
  type ResultChoices,
  type SessionBuilder,
  serialize,
  session,
  textBlock,
  thinkingBlock,
  toolUseBlock,
} from './records.ts'
export { type KeptLayout, keptLayouts, type SessionOptions } from './sessions/options.ts'
export {
  generateSession,
  generateWithTruth,
  streamWithTruth,
  type TruthfulSession,
  type TruthfulStream,
} from './sessions/session.ts'
export { type ClientStyle, clientStyles } from './sessions/style.ts'
export type {
  AnswerTruth,
  BoundaryTruth,
  EpochTruth,
  LiveTruth,
  MicrocompactTruth,
  SidechainTruth,
  Truth,
} from './sessions/truth.ts'
export { assistant, call, human, type Outcome, type Said, shell } from './talk.ts'
