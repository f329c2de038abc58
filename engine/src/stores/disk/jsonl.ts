// Sessions as transcripts in one folder: FOLDER/ID.jsonl, and FOLDER/ID/subagents/NAME.jsonl for sub-agents, at any depth.
// Links are never followed: they could lead anywhere.
import { existsSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { defined, parseObject, stringAt } from '../../core/message/json.ts'
import {
  checkNewSessionId,
  type Erasure,
  type HeldSession,
  type OpenOptions,
  type OpenResult,
  type SessionInfo,
  type SessionStore,
  type StoredRecord,
  transcriptName,
} from '../../core/ports/session-store.ts'
import { discardCaches } from '../../node/archive/archive.ts'
import { isLeaseHeld } from '../../node/lease/lease.ts'
import { forEachEntry } from '../../node/read/entries.ts'
import { filesIn, itemsIn, makeFolderBelow, resultsName, sessionFolder } from '../../node/session/session-folder.ts'
import { ignoring, replaceFile } from '../../node/write/disk.ts'
import type { Sync } from '../../node/write/writer.ts'
import { sessionsToErase, sessionsToList } from '../rules.ts'
import { openTranscript, storeErrorOf } from './file.ts'

export type JsonlOptions = {
  /** Created if it is missing. */
  readonly folder: string
  /** When records are flushed to disk (fsync). Default: `never`, which leaves it to the system. */
  readonly sync?: Sync
}

export function jsonlSessions(options: JsonlOptions): SessionStore {
  if (typeof options?.folder !== 'string') {
    throw new TypeError("jsonlSessions() needs the folder of the sessions: jsonlSessions({ folder: 'sessions' }).")
  }
  const folder = resolve(options.folder)
  return {
    open: async (id, how) => {
      try {
        return await open({ folder, ...defined({ sync: options.sync }) }, id, how)
      } catch (error) {
        throw storeErrorOf(error)
      }
    },
    records: (id) => records(folder, id),
    list: async (which) => sessionsToList([...sessionsIn(folder).values()], which),
    erase: async (which) => erase(folder, which),
    close: async () => undefined,
  }
}

async function open({ folder, ...writing }: JsonlOptions, id: string, options: OpenOptions): Promise<OpenResult> {
  const { as, owner = 'everlong', user, parent, isCopy } = options
  const path = transcriptPath(folder, id)
  // Even a copy needs an id that can be a file name and differs from those of other sessions.
  if (as === 'new') checkNewSessionId(id, path === undefined || transcriptName.test(id) ? { parent } : options)
  if (path === undefined) return { type: 'missing' }
  const isThere = isTranscript(folder, path)
  if (as === 'existing' && !isThere) return { type: 'missing' }
  if (as === 'new' && isThere) return { type: 'exists' }
  if (as === 'new') makeFolderBelow(folder, dirname(path))
  const result = await openTranscript(path, { ...writing, as, owner, ...(isCopy ? { isCopy } : {}) })
  if (result.type !== 'opened') return result
  // As in other stores, written in the background and checked against the version.
  const { appendNow: _, ...session } = result.session
  if (as === 'new' && user !== undefined) await writeUser(path, user, session)
  return { type: 'opened', session: { ...session, id } }
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

/** A session whose user cannot be written could not be erased by user, so it does not start. */
async function writeUser(path: string, user: string, { release }: Pick<HeldSession, 'release'>): Promise<void> {
  try {
    makeFolderBelow(dirname(path), sessionFolder(path))
    replaceFile(userFile(path), Buffer.from(`${JSON.stringify({ user })}\n`), { flush: false })
  } catch (error) {
    rmSync(path, { force: true })
    await release()
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
  const chosen = sessionsToErase([...all.values()], which, Date.now())
  const [gone, staying] = [new Set<string>(), new Set<string>()]
  for (const [path, { id }] of all) (chosen.has(id) ? gone : staying).add(path)
  try {
    eraseTranscripts(gone, staying)
  } catch (error) {
    throw storeErrorOf(error, ' Not everything was erased.')
  }
  return chosen.size
}

const extension = '.jsonl'

/** Undefined if no file in the folder can have this id. Folders may contain ids that a new session must not have. */
function transcriptPath(folder: string, id: string): string | undefined {
  const names = id.split('/')
  const isSafe = names.every((name) => name !== '' && name !== '.' && name !== '..' && !/[\\:\0]/.test(name))
  return isSafe ? `${join(folder, ...names)}${extension}` : undefined
}

function sessionIdOf(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/').slice(0, -extension.length)
}

function parentIn(id: string): string | undefined {
  return /^(.+)\/subagents\/[^/]+$/s.exec(id)?.[1]
}

/** All transcripts at any depth below the folder. */
function transcriptsIn(folder: string): readonly string[] {
  return itemsIn(folder).flatMap((item) => {
    const path = join(folder, item.name)
    if (item.isFile()) return item.name.endsWith(extension) ? [path] : []
    return item.isDirectory() && item.name !== resultsName ? transcriptsIn(path) : []
  })
}

/** True if there is a transcript without a link on its path. */
function isTranscript(folder: string, path: string): boolean {
  const found = ignoring(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'], () => lstatSync(path))
  if (found?.isFile() !== true) return false
  for (let level = dirname(path); level !== folder && level.length > folder.length; level = dirname(level))
    if (lstatSync(level).isSymbolicLink()) return false
  return true
}

/**
 * Erases transcripts with their neighboring files, locks and caches. Never removes a transcript that stays, wherever it is.
 * Writers that still have an erased one open get an error at their next append.
 */
function eraseTranscripts(gone: ReadonlySet<string>, staying: ReadonlySet<string>): void {
  for (const path of gone) {
    discardCaches(path)
    rmSync(path, { force: true })
  }
  for (const path of gone) removeFolder(sessionFolder(path), staying)
  for (const folder of new Set([...gone].map(dirname)))
    for (const file of filesIn(folder)) if (gone.has(lockedBy(file) ?? '')) rmSync(file, { force: true })
}

/** The transcript of this lock, or of a file left over from taking it. */
function lockedBy(file: string): string | undefined {
  const name = /^(.+\.jsonl)\.lock(\..+)?$/s.exec(basename(file))?.[1]
  return name === undefined ? undefined : join(dirname(file), name)
}

/** Removes a folder, except the transcripts in it that stay and their files. */
function removeFolder(folder: string, staying: ReadonlySet<string>): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found || found.isFile()) return
  if (![...staying].some((path) => path.startsWith(`${folder}${sep}`))) {
    rmSync(folder, { recursive: true, force: true })
    return
  }
  const kept = new Set([...staying].map(sessionFolder))
  for (const item of itemsIn(folder)) {
    const path = join(folder, item.name)
    if (staying.has(path) || kept.has(path) || staying.has(lockedBy(path) ?? '')) continue
    if (item.isDirectory()) removeFolder(path, staying)
    else rmSync(path, { force: true })
  }
}
