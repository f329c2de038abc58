// everlong/stores: session stores in any runtime, and the port to write one's own. See docs/stores.md.

export type {
  Appended,
  HeldSession,
  OpenOptions,
  OpenResult,
  SessionInfo,
  SessionStore,
  StoredRecord,
} from './core/ports/session-store.ts'
export { checkNewSessionId } from './core/ports/session-store.ts'
export { copySessions } from './stores/copy.ts'
export { memorySessions } from './stores/memory.ts'
