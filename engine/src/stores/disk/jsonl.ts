// Sessions as transcripts in one folder: FOLDER/ID.jsonl, with sub-agents in FOLDER/ID/subagents. The version of a session
// is the size of its file.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defined, parseObject, stringAt } from '../../core/message/json.ts'
import { checkNewSessionId, transcriptName } from '../../core/ports/session-id.ts'
import type {
  Appended,
  Erasure,
  HeldSession,
  OpenOptions,
  OpenResult,
  SessionInfo,
  SessionStore,
  StoredRecord,
} from '../../core/ports/session-store.ts'
import { StoreError } from '../../core/ports/store.ts'
import { isLeaseHeld } from '../../node/lease/lease.ts'
import { forEachEntry } from '../../node/read/entries.ts'
import { readFully } from '../../node/read/lines.ts'
import { type OpenedFile, openSessionFile } from '../../node/session/session-file.ts'
import { makeFolderBelow, sessionFolder } from '../../node/session/session-folder.ts'
import { diskProblem, storeReason } from '../../node/write/disk.ts'
import { replaceFile } from '../../node/write/whole-file.ts'
import { listed, toErase } from '../rules.ts'
import { eraseTranscripts } from './erase.ts'
import { isTranscript, parentIn, sessionIdOf, transcriptPath, transcriptsIn } from './tree.ts'

export type JsonlOptions = {
  /** It is created if it is missing. */
  readonly folder: string
}

export function jsonlSessions(options: JsonlOptions): SessionStore {
  const folder = resolve(options.folder)
  return {
    open: async (id, how) => {
      try {
        return await open(folder, id, how)
      } catch (error) {
        throw storeErrorOf(error)
      }
    },
    records: (id) => records(folder, id),
    list: async (which) => listed([...sessionsIn(folder).values()], which),
    erase: async (which) => erase(folder, which),
    close: async () => undefined,
  }
}

/** A failure of the disk in plain words. Any other error is a bug of ours and is thrown again. */
function storeErrorOf(error: unknown, more = ''): StoreError {
  if (error instanceof StoreError) return error
  const problem = diskProblem(error)
  return new StoreError(`${problem.message}${more}`, { reason: storeReason(problem), cause: error })
}

async function open(folder: string, id: string, options: OpenOptions): Promise<OpenResult> {
  const { as, owner = 'everlong', user, parent, isCopy } = options
  const path = transcriptPath(folder, id)
  // Even a copy needs an id that can be a file, apart from those of other sessions.
  if (as === 'new') checkNewSessionId(id, path === undefined || transcriptName.test(id) ? { parent } : options)
  if (path === undefined) return { type: 'missing' }
  const isThere = isTranscript(folder, path)
  if (as === 'existing' && !isThere) return { type: 'missing' }
  if (as === 'new' && isThere) return { type: 'exists' }
  if (as === 'new') makeFolderBelow(folder, dirname(path))
  const file = await openSessionFile(path, { file: as, owner, ...(isCopy ? { isCopy } : {}) })
  if (file.type === 'failed' && file.heldBy !== undefined) return { type: 'held', by: file.heldBy.owner, why: file.why }
  if (file.type === 'failed') throw new StoreError(file.why, file)
  if (as === 'new' && user !== undefined) await writeUser(file.store, user)
  return { type: 'opened', session: heldFile(id, path, file) }
}

/** A transcript that this process holds. */
function heldFile(id: string, path: string, { store, entries, isWhole, recall, read }: OpenedFile): HeldSession {
  let isReleased = false
  const append = (records: readonly StoredRecord[], expected: number): Appended => {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (isReleased) return { type: 'refused', why: `${path} is closed. Open it again to write.`, reason: 'closed' }
    if (size === undefined) return { type: 'refused', why: `${path} was removed.`, reason: 'lost' }
    if (size !== expected) return alreadyThere(path, records, expected)
    const result = store.append(records.map(({ record }) => record))
    if (result.type === 'stored') return { type: 'stored', version: statSync(path).size }
    const { why, reason } = result
    return reason === 'unavailable' ? { type: reason, why } : { type: 'refused', why, reason }
  }
  return {
    id,
    path,
    version: statSync(path).size,
    entries,
    isWhole,
    append: async (records, expected) => append(records, expected),
    all: async () => [...(await store.entries())],
    recall,
    read,
    release: async () => {
      isReleased = true
      await store.close()
    },
  }
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

async function* records(folder: string, id: string): AsyncIterable<StoredRecord> {
  const path = transcriptPath(folder, id)
  if (path === undefined || !isTranscript(folder, path)) return
  const found: StoredRecord[] = []
  const seen = new Set<unknown>()
  try {
    forEachEntry(path, ({ record, position }) => {
      const { uuid } = record
      const isFirst = typeof uuid === 'string' && !seen.has(uuid)
      seen.add(uuid)
      found.push({ id: isFirst ? uuid : `line-${position.line}-${position.nth}`, record })
    })
  } catch (error) {
    throw storeErrorOf(error)
  }
  yield* found
}

/** The file that names the user of a session. */
function userFile(path: string): string {
  return join(sessionFolder(path), 'session.json')
}

/** A session whose user cannot be noted could not be erased by user, so it is not started. */
async function writeUser({ path, close }: OpenedFile['store'], user: string): Promise<void> {
  try {
    makeFolderBelow(dirname(path), sessionFolder(path))
    replaceFile(userFile(path), Buffer.from(`${JSON.stringify({ user })}\n`), { flush: false })
  } catch (error) {
    rmSync(path, { force: true })
    await close()
    throw error
  }
}

function userOf(path: string): string | undefined {
  const file = userFile(path)
  return existsSync(file) ? stringAt(parseObject(readFileSync(file, 'utf8')), 'user') : undefined
}

/** By path. */
function sessionsIn(folder: string): ReadonlyMap<string, SessionInfo> {
  const found = new Map<string, SessionInfo>()
  for (const path of transcriptsIn(folder)) {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) continue
    const id = sessionIdOf(folder, path)
    const known = defined({ user: userOf(path), parent: parentIn(id) })
    found.set(path, { id, ...known, changed: stats.mtime.toISOString(), isHeld: isLeaseHeld(path) })
  }
  return found
}

function erase(folder: string, which: Erasure): number {
  const all = sessionsIn(folder)
  const chosen = toErase([...all.values()], which, Date.now())
  const [gone, staying] = [new Set<string>(), new Set<string>()]
  for (const [path, { id }] of all) (chosen.has(id) ? gone : staying).add(path)
  try {
    eraseTranscripts(gone, staying)
  } catch (error) {
    throw storeErrorOf(error, ' Not everything was erased.')
  }
  return chosen.size
}
