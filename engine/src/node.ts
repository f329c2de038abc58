// everlong/node: sessions on disk, with hooks, archive and recall.

// Sessions

export type { Session } from './core/session/session-api.ts'
export type { HookFunction } from './node/hooks/hooks.ts'
export { type HookSettings, readHookSettings } from './node/hooks/settings.ts'
export { eventLog } from './node/session/event-log.ts'
export { workspaceFiles } from './node/session/session-files.ts'
export { gitWorkspace } from './node/session/workspace.ts'
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type SessionOptions,
} from './node-engine.ts'
export { jsonlSessions } from './stores/disk/jsonl.ts'

// Archive and recall

export type { Embedder } from './core/ports/model.ts'
export { compactTool } from './core/session/compact-tool.ts'
export { type RecallTool, recallTool } from './core/session/recall-tool.ts'
export { type Archive, type ArchiveOptions, openArchive } from './node/archive/archive.ts'
export { createRecallTool } from './node/recall/tool.ts'
