// everlong: everything a host needs, in any runtime. Nothing here uses Node; see everlong/node for sessions on disk.

// Sessions

export type { EngineEvent } from './core/ports/events.ts'
export type { Compacted, Failed } from './core/ports/outcome.ts'
export type { Recalled } from './core/ports/session-store.ts'
export { StoreError } from './core/ports/session-store.ts'
export type { AnswerInput, MessageInput } from './core/session/input.ts'
export type { Blocked, Ready } from './core/session/prepare.ts'
export type { Recovery } from './core/session/recovery.ts'
export type { Session, SessionExplanation, SessionOptions, Turn } from './core/session/session-api.ts'
export type { Environment } from './core/settings/resolve.ts'
export type { EngineSettings } from './core/settings/table.ts'
export { ConfigurationError } from './core/tokens/figure.ts'
export { createEngine, type Engine, type EngineOptions } from './engine.ts'
export type { ReadSession } from './read-session.ts'

// Without a session

export { compact } from './compact.ts'
export type { CompactMessagesOptions, CompactOutcome } from './compact-messages.ts'
export { countTokens } from './core/tokens/estimate/counting.ts'
export { estimateTokens } from './core/tokens/estimate/estimate.ts'
export { type Microcompacted, type MicrocompactOptions, microcompact } from './microcompact.ts'
export type { AnyMessage } from './plain-messages.ts'

// Messages and records

export type { Block, Message } from './core/message/message.ts'
export type { TokenCounts } from './core/message/usage.ts'
export type { Entry } from './core/transcript/format/entry.ts'

// Models

export type {
  ModelAnswer,
  ModelCapabilities,
  ModelClient,
  ModelFailure,
  ModelRequest,
  SendOptions,
  StreamEvent,
} from './core/ports/model.ts'
export { offline, recorded } from './models/offline.ts'

// Host code and options

export type { HookCall, HookOutcome, HostHooks } from './core/ports/hooks.ts'
export type { FileStore } from './core/ports/restore.ts'
export type { Workspace } from './core/ports/workspace.ts'
