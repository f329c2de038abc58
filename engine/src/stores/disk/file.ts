// A session in a transcript: the entries of its live window, and appends while this process holds the lease. The version of
// the session is the size of the file.
import { closeSync, existsSync, fstatSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../core/message/json.ts'
import {
  type Appended,
  checkNewSessionId,
  type HeldSession,
  type OpenOptions,
  type OpenResult,
  type StoredRecord,
  StoreError,
  type StoreResult,
  subagentId,
} from '../../core/ports/session-store.ts'
import { type Opener, type Recall, recallIn } from '../../core/session/stored-session.ts'
import { type Archive, openArchive } from '../../node/archive/archive.ts'
import { hasSqlite } from '../../node/archive/database.ts'
import { readFully, sniffFormat } from '../../node/read/entries.ts'
import { allEntries, windowEntries } from '../../node/read/transcript.ts'
import { makeSessionFolder, sessionFolder } from '../../node/session/session-folder.ts'
import { diskProblem, storeReason } from '../../node/write/disk.ts'
import {
  type AppendResult,
  heldMessage,
  openWriter,
  type TranscriptWriter,
  type WriterOptions,
  whyNotAppended,
} from '../../node/write/writer.ts'

/** Sessions by the paths of their transcripts. A sub-agent's transcript is in the folder of its session. */
export function transcriptFiles(options: Pick<WriterOptions, 'ifHeld' | 'sync'>): Opener {
  return {
    open: async (id, { as, owner = 'everlong', parent, isCopy = false }) => {
      try {
        const path = parent === undefined ? id : subagentFile(parent, id)
        // Follows no link on the way.
        if (parent !== undefined) makeSessionFolder(dirname(path))
        const result = await openTranscript(path, { ...options, as, owner, isCopy })
        if (result.type !== 'opened') return result
        // A fork has its own path.
        return { type: 'opened', session: { ...result.session, id: result.session.path ?? path } }
      } catch (error) {
        throw storeErrorOf(error)
      }
    },
  }
}

function subagentFile(session: string, id: string): string {
  checkNewSessionId(id, { parent: session })
  return join(sessionFolder(session), 'subagents', `${id.slice(subagentId(session, '').length)}.jsonl`)
}

/** A failure of the disk in plain words. Throws any other error again, because it is a bug of ours. */
export function storeErrorOf(error: unknown, more = ''): StoreError {
  if (error instanceof StoreError) return error
  const problem = diskProblem(error)
  return new StoreError(`${problem.message}${more}`, { reason: storeReason(problem), cause: error })
}

export type TranscriptOptions = WriterOptions & Pick<OpenOptions, 'as'>

/** Throws a StoreError if the file is not a transcript that can be continued, or cannot be written. */
export async function openTranscript(path: string, { as, ...options }: TranscriptOptions): Promise<OpenResult> {
  const refused = as === 'new' ? whyNotNew(path) : whyNotContinued(path)
  if (refused) return refused
  const known = new Set<string>()
  const opened = await openWriter(path, { ...options, knows: (uuid) => known.has(uuid) })
  if (opened.type === 'held') {
    return { type: 'held', by: opened.by.owner, why: heldMessage(path, opened.by), holder: opened.by }
  }
  if (opened.type === 'open-failed') throw new StoreError(opened.message, { reason: storeReason(opened) })
  const window = windowOf(opened.writer.path)
  for (const { record } of window.entries) if (typeof record.uuid === 'string') known.add(record.uuid)
  return { type: 'opened', session: { ...heldTranscript(opened.writer), ...window } }
}

function whyNotNew(path: string): OpenResult | undefined {
  if (!existsSync(path)) return undefined
  const how = 'To continue that session, use open(); to start another, pass start() a new path.'
  return { type: 'exists', why: `${path} already exists. ${how} Nothing was written.` }
}

/** Checked before the file is opened for writing, so that a wrong path never creates or changes a file. */
function whyNotContinued(path: string): OpenResult | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) {
    const how = 'Check the path, or start a new session there with start({ path }).'
    return { type: 'missing', why: `There is no session at ${path}. ${how} Nothing was written.` }
  }
  const invalid = (why: string) => new StoreError(`${path} ${why} Nothing was written.`, { reason: 'invalid' })
  if (!stats.isFile()) throw invalid('is not a file. Pass the path of a transcript.')
  if (stats.size === 0) return undefined
  const format = sniffFormat(path)
  if (format === 'claude-code') return undefined
  throw invalid(
    format === undefined
      ? 'is not a transcript: it contains no record of a session. To start a session, pass start() a new path.'
      : `is a session of another agent (${format}): it can be read but not continued.`,
  )
}

function windowOf(path: string): Pick<HeldSession, 'entries' | 'isWhole'> {
  const { entries, isWhole } = windowEntries(path)
  return { entries, isWhole }
}

function heldTranscript(writer: TranscriptWriter): Omit<HeldSession, 'entries' | 'isWhole'> {
  const { path } = writer
  let isReleased = false
  const appendNow = (records: readonly JsonObject[]) => storeResult(writer.appendAll(records))
  const append = (records: readonly StoredRecord[], expected: number): Appended => {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (isReleased) return { type: 'refused', why: `${path} is closed. Open it again to write.`, reason: 'closed' }
    if (size === undefined) return { type: 'refused', why: `${path} was removed.`, reason: 'lost' }
    if (size !== expected) return alreadyThere(path, records, expected)
    const result = appendNow(records.map(({ record }) => record))
    if (result.type === 'stored') return { type: 'stored', version: statSync(path).size }
    const { why, reason } = result
    return reason === 'unavailable' ? { type: reason, why } : { type: 'refused', why, reason }
  }
  return {
    id: path,
    path,
    version: statSync(path).size,
    appendNow,
    append: async (records, expected) => append(records, expected),
    sync: () => {
      const result = writer.flush()
      if (result.type === 'flushed') return { type: 'stored' }
      return { type: 'store-failed', why: whyNotAppended(result), reason: storeReason(result) }
    },
    all: async () => allEntries(path),
    ...recallOnDisk(path),
    release: async () => {
      isReleased = true
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

/** Compares bytes: records without a uuid have no id in the file. */
function alreadyThere(path: string, records: readonly StoredRecord[], expected: number): Appended {
  const sent = Buffer.from(records.map(({ record }) => `${JSON.stringify(record)}\n`).join(''))
  const file = openSync(path, 'r')
  try {
    const found = Buffer.alloc(Math.max(0, Math.min(sent.length, fstatSync(file).size - expected)))
    readFully(file, found, expected)
    if (found.equals(sent)) return { type: 'stored', version: expected + sent.length }
    const why = `${path} has changed: it no longer ends where this writer expects it to.`
    return { type: 'refused', why, reason: 'lost' }
  } finally {
    closeSync(file)
  }
}

/** Uses the archive, or reads the file if this Node has no SQLite. */
export function recallOnDisk(path: string): Recall {
  const plain = recallIn(() => allEntries(path))
  const withArchive = async <T>(use: (archive: Archive) => T): Promise<T> => {
    const archive = openArchive(path)
    try {
      return use(archive)
    } finally {
      archive.close()
    }
  }
  return {
    recall: (words, limit, pause) =>
      hasSqlite() ? withArchive((archive) => archive.search({ words, limit })) : plain.recall(words, limit, pause),
    read: (id) => (hasSqlite() ? withArchive((archive) => archive.read(id)?.text) : plain.read(id)),
  }
}
