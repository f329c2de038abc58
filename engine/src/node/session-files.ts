// Where a session's files come from when context is put back: this machine's disk, or, for a transcript from elsewhere,
// what the transcript itself showed of them.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type JsonObject, stringAt } from '../core/message/json.ts'
import type { ViewMessage } from '../core/message/message.ts'
import type { FileStore } from '../core/ports/files.ts'
import type { Workspace } from '../core/ports/workspace.ts'
import { createSeenFiles, seenFileStore } from '../core/restore/seen-files.ts'
import type { Entry } from '../core/transcript/entry.ts'
import { gitWorkspace } from './workspace.ts'
import { workspaceFiles } from './workspace-files.ts'

export type SessionFiles = {
  readonly files: FileStore
  /** Every message of the session, in order. */
  readonly see: (message: ViewMessage, record: JsonObject) => void
}

export type SessionFilesInput = {
  /** The host's own, which come before all others. */
  readonly given?: FileStore | undefined
  /** What was there when it was opened. */
  readonly entries: readonly Entry[]
  /** The workspace, as the host says; never what a transcript says. */
  readonly cwd: string
  readonly hasRead: (path: string) => boolean
}

export function sessionFiles({ given, entries, cwd, hasRead }: SessionFilesInput): SessionFiles {
  if (given || !isFromElsewhere(entries)) {
    return { files: given ?? workspaceFiles({ root: cwd, isAllowed: hasRead }), see: () => undefined }
  }
  const seen = createSeenFiles()
  return { files: seenFileStore(seen), see: seen.add }
}

/** Its working directory is not on this machine. */
function isFromElsewhere(entries: readonly Entry[]): boolean {
  const cwd = recordedFolder(entries)
  return cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true
}

function recordedFolder(entries: readonly Entry[]): string | undefined {
  return entries.map(({ record }) => stringAt(record, 'cwd')).findLast((path) => path !== undefined)
}

export type WorkspaceForInput = Pick<SessionFilesInput, 'given' | 'entries' | 'cwd'> & {
  /** The host itself said that this is the folder. */
  readonly isNamed: boolean
}

/** The folder's git state says nothing about a session whose files are elsewhere. */
export function workspaceFor({ given, entries, cwd, isNamed }: WorkspaceForInput): Workspace | undefined {
  if (given) return undefined
  const recorded = recordedFolder(entries)
  if (!isNamed && recorded !== undefined && resolve(recorded) !== resolve(cwd)) return undefined
  return gitWorkspace({ folder: cwd })
}
