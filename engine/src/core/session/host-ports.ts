// What an engine takes from the place it runs in. In a browser or on the edge that is next to nothing (`bareHost`);
// everlong/node passes files, git, shell hooks, and what is kept next to a transcript.

import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { type Hooks, noHooks } from '../ports/hooks.ts'
import type { FileStore, GuardedRedact } from '../ports/restore.ts'
import type { Workspace } from '../ports/workspace.ts'
import { createSeenFiles, seenFileStore } from '../restore/seen-files.ts'
import type { Environment } from '../settings/resolve.ts'
import type { NamedKinds } from '../tools/call.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { Conversation } from './conversation.ts'
import type { KeeperInput, MemoryKeeper } from './memory-keeper.ts'

export type HostPorts = {
  readonly environment: Environment
  /** The working directory of sessions that name none. */
  readonly cwd: string
  readonly files: (input: SessionFilesInput) => SessionFiles
  readonly workspace: (input: WorkspaceInput) => Workspace | undefined
  readonly hooks: (session: HookedSession) => Hooks
  /** Keeps the notes of a session that is a file. */
  readonly notes?: (path: string, how: KeeperInput) => MemoryKeeper
  /** Stores the tool results of such a session before an edit clears them. */
  readonly keepingResults?: (
    conversation: Conversation,
    path: string,
    onProblem: (problem: string) => void,
  ) => Conversation
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

/** No disk, no processes: files are restored only as far as the conversation itself showed them. */
export function bareHost(environment: Environment): HostPorts {
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
