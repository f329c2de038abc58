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
export { checkNewSessionId, entriesOf } from './core/ports/session-store.ts'
export { recallIn } from './core/session/stored-session.ts'
export { copySessions } from './stores/copy.ts'
export { memorySessions } from './stores/memory.ts'
export { isAlreadyStored, sessionsToErase, sessionsToList } from './stores/rules.ts'
