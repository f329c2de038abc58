// Which files may be restored, and from where: on the session's own machine from disk, if the session was demonstrably
// shown the file or the host permits it; for a transcript from another machine, only what the transcript contains.
import { constants, statSync } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { stringAt } from '../../core/message/json.ts'
import type { FileRead, FileStore } from '../../core/ports/restore.ts'
import type { Workspace } from '../../core/ports/workspace.ts'
import {
  createSeenFiles,
  type SeenFile,
  type SeenFiles,
  seenFileStore,
  seenText,
} from '../../core/restore/seen-files.ts'
import { createShown, type Shown } from '../../core/restore/shown.ts'
import type { SessionFiles, SessionFilesInput, WorkspaceInput } from '../../core/session/platform.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { gitWorkspace } from './workspace.ts'

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

type OwnFiles = Pick<SessionFilesInput, 'permitted'> & {
  readonly root: string
  readonly shown: Shown
  /** What the transcript showed when the session was opened. */
  readonly opened: SeenFiles
}

/**
 * A transcript is untrusted and cannot open a file. Of a file that only the transcript showed, no more is restored than
 * the transcript contains, and only while the disk still has the same.
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

const notAsShown = 'it no longer contains anything this session was shown: read it again'

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

/** Every shown line is unchanged. Clients omit the newline after the last line. */
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

/** The folder's git state says nothing about a session whose files are elsewhere. */
export function workspaceFor({ given, entries, cwd, isNamed }: WorkspaceInput): Workspace | undefined {
  if (given) return undefined
  const recorded = recordedFolder(entries)
  if (!isNamed && recorded !== undefined && resolve(recorded) !== resolve(cwd)) return undefined
  return gitWorkspace({ folder: cwd })
}

type WorkspaceOptions = {
  readonly root: string
  /** Paths outside the workspace that may be read. */
  readonly isAllowed?: (path: string) => boolean
}

/** Larger files are not source code that anybody reads whole. */
const maxBytes = 2 * 1024 * 1024

/** Reads files for restoring. Nothing outside the workspace is read unless allowed, and links cannot lead out of it. */
export function workspaceFiles({ root, isAllowed = () => false }: WorkspaceOptions): FileStore {
  return {
    read: async (path) => {
      const wanted = resolve(root, path)
      try {
        const real = await realpath(wanted)
        if (!isInside(await realpath(root), real) && !isAllowed(path)) {
          return { type: 'refused', why: 'it is outside the workspace', isOutside: true }
        }
        return await readText(real)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : ''
        if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'missing' }
        return { type: 'refused', why: `it cannot be read (${code || String(error)})` }
      }
    },
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function readText(path: string): Promise<FileRead> {
  // Nonblocking: opening a pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const state = await file.stat()
    if (!state.isFile()) return { type: 'refused', why: 'it is not a file' }
    if (state.size > maxBytes) return { type: 'refused', why: `it has ${state.size} bytes` }
    const bytes = await file.readFile()
    if (bytes.includes(0)) return { type: 'binary', bytes: bytes.length }
    return { type: 'text', text: bytes.toString('utf8') }
  } finally {
    await file.close()
  }
}
