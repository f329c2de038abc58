// Sessions as transcripts in one folder: FOLDER/ID.jsonl, with sub-agents in FOLDER/ID/subagents.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
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
import { isLeaseHeld } from '../../node/lease/lease.ts'
import { forEachEntry } from '../../node/read/entries.ts'
import { makeFolderBelow, sessionFolder } from '../../node/session/session-folder.ts'
import { replaceFile } from '../../node/write/whole-file.ts'
import { listed, toErase } from '../rules.ts'
import { eraseTranscripts } from './erase.ts'
import { openTranscript, storeErrorOf } from './file.ts'
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
  const result = await openTranscript(path, { as, owner, ...(isCopy ? { isCopy } : {}) })
  if (result.type !== 'opened') return result
  // As in other stores: written in the background, and checked against the version.
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

/** A session whose user cannot be noted could not be erased by user, so it is not started. */
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
