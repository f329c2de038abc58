// Which files may be restored, and from where: on the session's own machine from disk, if the session has verifiably seen the
// file or the host permits it; for a transcript from another machine, only the content of the transcript.
import { constants, statSync } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { stringAt } from '../../core/message/json.ts'
import { type FileRead, type FileStore, redactedFile, type SafeRedact } from '../../core/ports/restore.ts'
import type { Workspace } from '../../core/ports/workspace.ts'
import {
  agrees,
  createSeenFiles,
  createShown,
  type SeenFile,
  type SeenFiles,
  type Shown,
  seenFileStore,
  seenText,
} from '../../core/restore/seen-files.ts'
import type { SessionFiles, SessionFilesInput, WorkspaceInput } from '../../core/session/host.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { gitWorkspace } from './workspace.ts'

export function sessionFiles(input: SessionFilesInput): SessionFiles {
  const { given, entries, cwd, named } = input
  if (given) return { files: given, onMessage: () => undefined }
  const seen = createSeenFiles({ named, root: cwd })
  if (isFromElsewhere(entries)) return { files: seenFileStore(seen), onMessage: seen.add }
  const shown = createShown({ named, root: cwd })
  return {
    files: ownFiles(input, { shown, opened: seen }),
    onMessage: (message, record, { isLive }) => (isLive ? shown : seen).add(message, record),
  }
}

type ShownFiles = {
  readonly shown: Shown
  /** The transcript's knowledge of files when the session was opened. */
  readonly opened: SeenFiles
}

/**
 * A transcript is untrusted and cannot open a file. For a file that only the transcript showed, restores at most the transcript's
 * content, and only while the disk still has the same. For a file that the open session was shown, restores only the shown lines,
 * or all of it if the host redacts the text.
 */
function ownFiles({ cwd: root, permitted, redact }: SessionFilesInput, { shown, opened }: ShownFiles): FileStore {
  const inside = workspaceFiles({ root, redact })
  const anywhere = workspaceFiles({ root, redact, isAllowed: () => true })
  return {
    read: async (path) => {
      const permission = permitted(path)
      if (permission === 'anywhere') return anywhere.read(path)
      const found = await inside.read(path)
      if (permission === 'inside') return isHiddenIn(found, path) ? { type: 'refused', why: notAsShown } : found
      const isInside = found.type !== 'refused' || found.isOutside !== true
      if (shown.has(path)) {
        const file = isInside ? found : await anywhere.read(path)
        if (file.type !== 'text') return file
        if (shown.proves(path, file.text)) {
          return redact ? file : { ...file, ...shown.shownIn(path, file.text, opened.file(path)) }
        }
        if (isInside && !opened.file(path)) return { type: 'refused', why: nothingShown }
      }
      return fromTranscript(found, opened.file(path))
    },
  }

  /** A result showed one of its lines differently. */
  function isHiddenIn(found: FileRead, path: string): boolean {
    if (redact || found.type !== 'text' || !shown.has(path)) return false
    return (shown.shownIn(path, found.text).part?.differs.length ?? 0) > 0
  }
}

const notAsShown = 'it differs from what this session was shown: read it again'
const nothingShown = 'it no longer contains anything this session was shown: read it again'

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

/** True if every shown line is unchanged. Clients omit the newline after the last line. */
function isStill({ lines, isWhole }: SeenFile, text: string): boolean {
  const now = text.split('\n')
  const shown = lines.at(-1) === '' ? lines.slice(0, -1) : lines
  const length = now.at(-1) === '' ? now.length - 1 : now.length
  if (isWhole && shown.length !== length) return false
  return agrees(shown, now)
}

/** True if its working directory is not on this machine. */
function isFromElsewhere(entries: readonly Entry[]): boolean {
  const cwd = recordedFolder(entries)
  return cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true
}

function recordedFolder(entries: readonly Entry[]): string | undefined {
  return entries.map(({ record }) => stringAt(record, 'cwd')).findLast((path) => path !== undefined)
}

/** The folder's git state does not describe a session whose files are on another machine. */
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
  readonly redact?: SafeRedact | undefined
}

/** Larger files are not source code that anyone reads whole. */
const maxBytes = 2 * 1024 * 1024

/** Reads files for restoring. Nothing outside the workspace is read unless allowed, and links cannot lead out of it. */
export function workspaceFiles({ root, isAllowed = () => false, redact }: WorkspaceOptions): FileStore {
  return {
    read: async (path) => {
      const wanted = resolve(root, path)
      try {
        const real = await realpath(wanted)
        if (!isInside(await realpath(root), real) && !isAllowed(path)) {
          return { type: 'refused', why: 'it is outside the workspace', isOutside: true }
        }
        return redactedFile(await readText(real), redact)
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
  // Nonblocking, because opening a pipe would wait for a writer.
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
