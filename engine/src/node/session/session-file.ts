// A session on disk for an engine: the entries of its live window, and a store that appends while holding the lease.
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import type { Store, StoreErrorReason, StoreResult } from '../../core/ports/store.ts'
import { fromEntries, type OpenedSession, sessionIdIn } from '../../core/session/platform.ts'
import { undoOfTorn } from '../../core/transcript/format/compaction-records.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { isSelfContained } from '../../core/transcript/tree/changes.ts'
import { type Archive, openArchive } from '../archive/archive.ts'
import { hasSqlite } from '../archive/database.ts'
import type { Holder } from '../lease/lease.ts'
import { forEachEntry, sniffFormat } from '../read/entries.ts'
import { openLive } from '../read/live-file.ts'
import { subagentPath } from '../read/subagents.ts'
import { diskProblem, storeReason } from '../write/disk.ts'
import {
  type AppendResult,
  heldMessage,
  openWriter,
  type TranscriptWriter,
  type WriterOptions,
  whyNotAppended,
} from '../write/writer.ts'
import { makeSessionFolder } from './session-folder.ts'

/** Its path is another one than that which was opened if it is a fork. */
export type OpenedFile = Pick<OpenedSession, 'id' | 'recall' | 'read'> &
  Read & { readonly store: Store & TranscriptPath }

type TranscriptPath = { readonly path: string }

type Read = {
  /** The entries of the live window, in file order. */
  readonly entries: readonly Entry[]
  /** Whether these are all entries of the file. */
  readonly isWhole: boolean
}

export type SessionFile =
  | ({ readonly type: 'opened' } & OpenedFile)
  | { readonly type: 'failed'; readonly why: string; readonly reason: StoreErrorReason; readonly heldBy?: Holder }

export type SessionFileOptions = WriterOptions & {
  /** `new` refuses an existing file; `existing` accepts only a transcript; `existing-or-new` starts one if there is no file. */
  readonly file: 'new' | 'existing' | 'existing-or-new'
}

export async function openSessionFile(path: string, { file, ...options }: SessionFileOptions): Promise<SessionFile> {
  const isNew = file === 'new' || (file === 'existing-or-new' && !existsSync(path))
  const refused = isNew ? whyNotNew(path) : whyNotContinued(path)
  if (refused) return { type: 'failed', ...refused, why: `${refused.why} Nothing was written.` }
  const known = new Set<string>()
  const opened = await openWriter(path, { ...options, knows: (uuid) => known.has(uuid) })
  if (opened.type === 'held')
    return { type: 'failed', why: heldMessage(path, opened.by), reason: 'held', heldBy: opened.by }
  if (opened.type === 'open-failed') return { type: 'failed', why: opened.message, reason: storeReason(opened) }
  const { writer } = opened
  const found = readRepaired(writer, known)
  if ('why' in found) {
    writer.close()
    return { type: 'failed', ...found }
  }
  const store = storeOn(writer)
  const id = sessionIdIn(found.entries) ?? basename(writer.path, extname(writer.path))
  return { type: 'opened', id, store, ...found, ...recallOnDisk(store) }
}

/** Starts the transcript of a sub-agent in the folder of its session. No link on the way is followed. */
export async function openSubagentFile(
  session: string,
  agentId: string,
  options: Omit<SessionFileOptions, 'file'>,
): Promise<SessionFile> {
  const path = subagentPath(session, agentId)
  try {
    makeSessionFolder(dirname(path))
  } catch (error) {
    const problem = diskProblem(error)
    return { type: 'failed', why: problem.message, reason: storeReason(problem) }
  }
  return openSessionFile(path, { ...options, file: 'new' })
}

type NotOpened = { readonly why: string; readonly reason: StoreErrorReason }

function whyNotNew(path: string): NotOpened | undefined {
  if (!existsSync(path)) return undefined
  const why = `${path} already exists. To continue that session, use open(); to start another, pass start() a new path.`
  return { why, reason: 'exists' }
}

/** Checked before the file is opened for writing, so that a wrong path never creates or changes a file. */
function whyNotContinued(path: string): NotOpened | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) {
    const why = `There is no session at ${path}. Check the path, or start a new session there with start({ path }).`
    return { why, reason: 'missing' }
  }
  const invalid = (why: string): NotOpened => ({ why, reason: 'invalid' })
  if (!stats.isFile()) return invalid(`${path} is not a file. Pass the path of a transcript.`)
  if (stats.size === 0) return undefined
  const format = sniffFormat(path)
  if (format === 'claude-code') return undefined
  return invalid(
    format === undefined
      ? `${path} is not a transcript: it contains no record of a session. To start a session, pass start() a new path.`
      : `${path} is a session of another agent (${format}): it can be read but not continued.`,
  )
}

/** Half a compaction left by a crash is first undone by one more record. */
function readRepaired(writer: TranscriptWriter, known: Set<string>): Read | NotOpened {
  const found = readWindow(writer.path)
  for (const { record } of found.entries) if (typeof record.uuid === 'string') known.add(record.uuid)
  const undo = undoOfTorn(found.entries, { uuid: randomUUID(), timestamp: new Date().toISOString() })
  if (undo === undefined) return found
  const stored = storeResult(writer.append(undo.record))
  if (stored.type === 'stored') return readRepaired(writer, known)
  return { why: stored.why, reason: stored.reason ?? 'failed' }
}

/** Everything, if an edit refers to entries before the window. */
function readWindow(path: string): Read {
  if (statSync(path).size === 0) return { entries: [], isWhole: true }
  const live = openLive(path)
  if (live.isWhole || isSelfContained(live.read)) return { entries: live.read, isWhole: live.isWhole }
  return { entries: allEntries(path), isWhole: true }
}

function allEntries(path: string): readonly Entry[] {
  const entries: Entry[] = []
  forEachEntry(path, (entry) => entries.push(entry))
  return entries
}

function storeOn(writer: TranscriptWriter): OpenedFile['store'] {
  return {
    path: writer.path,
    append: (records) => storeResult(writer.appendAll(records)),
    entries: () => allEntries(writer.path),
    close: () => {
      writer.close()
    },
  }
}

function storeResult(result: AppendResult): StoreResult {
  if (result.type === 'appended' || result.type === 'sync-failed') return { type: 'stored' }
  const why = whyNotAppended(result)
  if (result.type === 'write-failed') return { type: 'store-failed', why, reason: storeReason(result) }
  return { type: 'store-failed', why, reason: result.type === 'lease-lost' ? 'lost' : 'invalid' }
}

/** From the archive, or by reading the file where this Node has no SQLite. */
function recallOnDisk({ path, entries }: OpenedFile['store']): Pick<OpenedSession, 'recall' | 'read'> {
  if (!hasSqlite()) return fromEntries(entries)
  const withArchive = async <T>(use: (archive: Archive) => T): Promise<T> => {
    const archive = openArchive(path)
    try {
      return use(archive)
    } finally {
      archive.close()
    }
  }
  return {
    recall: (words, limit) => withArchive((archive) => archive.search({ words, limit })),
    read: (id) => withArchive((archive) => archive.read(id)?.text),
  }
}
