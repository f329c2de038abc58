// What an engine takes from the place it runs in. In a browser or on the edge that is next to nothing (`barePlatform`,
// `inMemory`); everlong/node brings files, git, shell hooks and transcripts on disk.

import { type JsonObject, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { type Hooks, noHooks } from '../ports/hooks.ts'
import type { FileStore, GuardedRedact } from '../ports/restore.ts'
import type { Recalled } from '../ports/session-store.ts'
import { memoryStore, type Store } from '../ports/store.ts'
import type { Workspace } from '../ports/workspace.ts'
import { createSeenFiles, seenFileStore } from '../restore/seen-files.ts'
import type { Environment } from '../settings/environment.ts'
import type { NamedKinds } from '../tools/call.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { Conversation } from './conversation.ts'
import type { KeeperInput, MemoryKeeper } from './memory-keeper.ts'

export type Platform = {
  readonly environment: Environment
  /** The working directory of sessions that name none. */
  readonly cwd: string
  readonly files: (input: SessionFilesInput) => SessionFiles
  readonly workspace: (input: WorkspaceInput) => Workspace | undefined
  readonly hooks: (session: HookedSession) => Hooks
}

export type HookedSession = { readonly id: string; readonly path?: string | undefined; readonly cwd: string }

export type SessionFiles = {
  readonly files: FileStore
  /** Called with every message of the session, in order; `isLive` when it came while the session was open. */
  readonly see: (message: ViewMessage, record: JsonObject, how: { readonly isLive: boolean }) => void
}

export type SessionFilesInput = {
  /** The host's own file store; it replaces all others. */
  readonly given?: FileStore | undefined
  /** The entries the session was opened with. */
  readonly entries: readonly Entry[]
  /** The working directory as the host names it, never as a transcript does. */
  readonly cwd: string
  readonly named?: NamedKinds | undefined
  /** Which files may be read although no message showed them: anywhere if the host named them, or inside the workspace. */
  readonly permitted: (path: string) => 'anywhere' | 'inside' | undefined
  /** What the host's tools do to every text that they return. */
  readonly redact?: GuardedRedact | undefined
}

export type WorkspaceInput = Pick<SessionFilesInput, 'given' | 'entries' | 'cwd'> & {
  /** The host named the folder. */
  readonly isNamed: boolean
}

/** A session as its storage opened it. */
export type OpenedSession = {
  readonly id: string
  readonly store: Store
  readonly entries: readonly Entry[]
  /** Whether `entries` are all there are. */
  readonly isWhole?: boolean
  /** Keeps its notes; undefined where they have no place. */
  readonly notes?: (input: KeeperInput) => MemoryKeeper
  /** Lets the storage keep more than the records, such as tool results that an edit clears. */
  readonly wrap?: (conversation: Conversation, onProblem: (problem: string) => void) => Conversation
  readonly recall: (words: string, limit: number) => Promise<Recalled>
  readonly read: (id: string) => Promise<string | undefined>
  readonly subagent: (agentId: string) => Promise<OpenedSession>
}

/** No disk, no processes: files are restored only as far as the conversation itself showed them. */
export function barePlatform(environment: Environment): Platform {
  return {
    environment,
    cwd: '/',
    files: ({ given, named }) => {
      if (given) return { files: given, see: () => undefined }
      const seen = createSeenFiles({ named })
      return { files: seenFileStore(seen), see: seen.add }
    },
    workspace: () => undefined,
    hooks: () => noHooks,
  }
}

export function inMemory(id: string): OpenedSession {
  const store = memoryStore()
  return { id, store, entries: [], ...fromEntries(store.entries), subagent: async () => inMemory(id) }
}

/** The id that the records carry. */
export function sessionIdIn(entries: readonly Entry[]): string | undefined {
  return entries.map(({ record }) => stringAt(record, 'sessionId')).find((id) => id !== undefined)
}

/** Recall without an index: every search reads all entries. Its code is loaded by the first one. */
export function fromEntries(entries: Store['entries']): Pick<OpenedSession, 'recall' | 'read'> {
  const load = () => import('./recall-entries.ts')
  return {
    recall: async (words, limit) => (await load()).recallFrom(await entries(), words, limit),
    read: async (id) => (await load()).readFrom(await entries(), id),
  }
}

/** Also finds messages that are queued, in every store: they are the newest, and no store has them as messages yet. */
export function withQueued(
  { recall, read }: Pick<OpenedSession, 'recall' | 'read'>,
  queued: () => readonly Entry[],
): Pick<OpenedSession, 'recall' | 'read'> {
  const inQueue = fromEntries(queued)
  return {
    recall: async (words, limit) => {
      const first = await inQueue.recall(words, limit)
      const then = await recall(words, limit)
      // One that left the queue in the meantime is in both.
      const ids = new Set(first.matches.map(({ id }) => id))
      const all = [...first.matches, ...then.matches.filter(({ id }) => !ids.has(id))]
      return { matches: all.slice(0, limit), more: first.more || then.more || all.length > limit }
    },
    read: async (id) => (await inQueue.read(id)) ?? read(id),
  }
}
