// Where a session's files come from when context is put back. On the session's own machine that is the disk, for what the
// session was demonstrably shown or the host permits; for a transcript from elsewhere, what the transcript itself shows.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type JsonObject, stringAt } from '../../core/message/json.ts'
import type { ViewMessage } from '../../core/message/message.ts'
import type { FileRead, FileStore } from '../../core/ports/files.ts'
import type { Workspace } from '../../core/ports/workspace.ts'
import {
  createSeenFiles,
  type SeenFile,
  type SeenFiles,
  seenFileStore,
  seenText,
} from '../../core/restore/seen-files.ts'
import { createShown, type Shown } from '../../core/restore/shown.ts'
import type { NamedKinds } from '../../core/tools/call.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { gitWorkspace } from './workspace.ts'
import { workspaceFiles } from './workspace-files.ts'

export type SessionFiles = {
  readonly files: FileStore
  /** Every message of the session, in order; `isLive` when it came while the session was open. */
  readonly see: (message: ViewMessage, record: JsonObject, how: { readonly isLive: boolean }) => void
}

export type SessionFilesInput = {
  /** The host's own, which come before all others. */
  readonly given?: FileStore | undefined
  /** What was there when it was opened. */
  readonly entries: readonly Entry[]
  /** The workspace, as the host says; never what a transcript says. */
  readonly cwd: string
  readonly named?: NamedKinds | undefined
  /** What may be read though nothing showed it: anywhere because the host named it, or inside the workspace. */
  readonly permitted: (path: string) => 'anywhere' | 'inside' | undefined
}

export function sessionFiles({ given, entries, cwd, named, permitted }: SessionFilesInput): SessionFiles {
  if (given) return { files: given, see: () => undefined }
  const seen = createSeenFiles(named ? { named } : {})
  if (isFromElsewhere(entries)) return { files: seenFileStore(seen), see: seen.add }
  const shown = createShown({ named, root: cwd })
  return {
    files: ownFiles({ root: cwd, shown, opened: seen, permitted }),
    see: (message, record, { isLive }) => (isLive ? shown : seen).add(message, record),
  }
}

type OwnFiles = {
  readonly root: string
  readonly shown: Shown
  /** What the transcript showed that the session was opened with. */
  readonly opened: SeenFiles
  readonly permitted: SessionFilesInput['permitted']
}

/**
 * A transcript may claim anything, so its word opens no file: of a file that only it showed, no more comes back than
 * the transcript itself holds, and only while that is still what is on the disk.
 */
function ownFiles({ root, shown, opened, permitted }: OwnFiles): FileStore {
  const inside = workspaceFiles({ root })
  const anywhere = workspaceFiles({ root, isAllowed: () => true })
  return {
    read: async (path) => {
      const permission = permitted(path)
      if (permission === 'anywhere') return anywhere.read(path)
      const found = await inside.read(path)
      const isInside = found.type !== 'refused' || found.isOutside !== true
      if (permission === 'inside') return found
      if (shown.has(path)) {
        const text = isInside ? found : await anywhere.read(path)
        if (text.type !== 'text' || shown.proves(path, text.text, { isInside })) return text
        if (isInside && !opened.file(path)) return { type: 'refused', why: notAsShown }
      }
      return fromTranscript(found, opened.file(path))
    },
  }
}

const notAsShown = 'nothing of what this session was shown is in it now: read it again'

function fromTranscript(found: FileRead, seen: SeenFile | undefined): FileRead {
  if (!seen) {
    const isThere = found.type === 'text' || found.type === 'binary'
    return isThere ? { type: 'refused', why: 'nothing in this session shows what is in it' } : found
  }
  if (found.type === 'text') {
    if (isStill(seen, found.text)) return { type: 'text', text: seen.isWhole ? found.text : seenText(seen) }
    return { type: 'refused', why: 'it has changed since the transcript showed it: read it again' }
  }
  return found.type === 'refused' && seen.isWhole ? { ...found, lastShown: seenText(seen) } : found
}

/** Every line that was shown stands where it stood. Clients leave out the line end behind the last line. */
function isStill({ lines, isWhole }: SeenFile, text: string): boolean {
  const now = text.split('\n')
  const shown = lines.at(-1) === '' ? lines.slice(0, -1) : lines
  const length = now.at(-1) === '' ? now.length - 1 : now.length
  if (isWhole && shown.length !== length) return false
  return shown.every((line, at) => line === undefined || line === now[at])
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
