// Sessions as transcripts in one folder: FOLDER/ID.jsonl, with sub-agents in FOLDER/ID/subagents. The version of a session
// is the size of its file.
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { defined, parseObject, stringAt } from '../../core/message/json.ts'
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
import { discardCaches } from '../../node/archive/archive.ts'
import { lockPathOf } from '../../node/lease/lease.ts'
import { forEachEntry } from '../../node/read/entries.ts'
import { readFully } from '../../node/read/lines.ts'
import { type OpenedFile, openSessionFile } from '../../node/session/session-file.ts'
import { filesIn, itemsIn, sessionFolder } from '../../node/session/session-folder.ts'
import { diskProblem } from '../../node/write/disk.ts'
import { listed, toErase } from '../rules.ts'

export type JsonlOptions = {
  /** It is created if it is missing. */
  readonly folder: string
}

export function jsonlSessions({ folder }: JsonlOptions): SessionStore {
  return {
    open: async (id, options) => open(pathOf(folder, id), id, options),
    records: (id) => records(folder, id),
    list: async (options) => listed(sessionsIn(folder), options),
    erase: async (which) => erase(folder, which),
    close: async () => undefined,
  }
}

const safeName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/

/** Ids become file names, so only plain ones are taken. */
function pathOf(folder: string, id: string): string {
  const names = id.split('/')
  if (names.every((name) => safeName.test(name))) return `${join(folder, ...names)}.jsonl`
  throw new StoreError(
    `"${id.slice(0, 100)}" cannot be the id of a session on disk: use letters, digits, ".", "_", "-".`,
  )
}

async function open(
  path: string,
  id: string,
  { as, owner = 'everlong', user, isCopy }: OpenOptions,
): Promise<OpenResult> {
  const isThere = existsSync(path)
  if (as === 'new' && isThere) return { type: 'exists' }
  if (as === 'existing' && !isThere) return { type: 'missing' }
  const file = await openSessionFile(path, { file: as, owner, ...(isCopy ? { isCopy } : {}) })
  if (file.type === 'failed' && file.heldBy !== undefined) return { type: 'held', by: file.heldBy.owner, why: file.why }
  if (file.type === 'failed') throw new StoreError(file.why)
  if (as === 'new' && user !== undefined) writeUser(path, user)
  return { type: 'opened', session: heldFile(id, path, file) }
}

/** A transcript that this process holds. */
function heldFile(id: string, path: string, { store, entries, isWhole, recall, read }: OpenedFile): HeldSession {
  let isReleased = false
  const append = (records: readonly StoredRecord[], expected: number): Appended => {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return { type: 'refused', why: `${path} was removed.` }
    if (isReleased) return { type: 'refused', why: `${path} is closed. Open it again to write.` }
    if (size !== expected) return alreadyThere(path, records, expected)
    const result = store.append(records.map(({ record }) => record))
    if (result.type === 'stored') return { type: 'stored', version: statSync(path).size }
    return { type: result.isFinal ? 'refused' : 'unavailable', why: result.why }
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
    return { type: 'refused', why: `${path} has changed: it no longer ends where this writer expects it to.` }
  } finally {
    closeSync(file)
  }
}

async function* records(folder: string, id: string): AsyncIterable<StoredRecord> {
  const path = pathOf(folder, id)
  if (!existsSync(path)) return
  const found: StoredRecord[] = []
  const seen = new Set<unknown>()
  forEachEntry(path, ({ record, position }) => {
    const { uuid } = record
    const isFirst = typeof uuid === 'string' && !seen.has(uuid)
    seen.add(uuid)
    found.push({ id: isFirst ? uuid : `line-${position.line}-${position.nth}`, record })
  })
  yield* found
}

/** The file that names the user of a session. */
function userFile(path: string): string {
  return join(sessionFolder(path), 'session.json')
}

function writeUser(path: string, user: string): void {
  mkdirSync(sessionFolder(path), { recursive: true, mode: 0o700 })
  writeFileSync(userFile(path), `${JSON.stringify({ user })}\n`, { mode: 0o600 })
}

function userOf(path: string): string | undefined {
  const file = userFile(path)
  return existsSync(file) ? stringAt(parseObject(readFileSync(file, 'utf8')), 'user') : undefined
}

function infoOf(folder: string, path: string): SessionInfo | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  const id = relative(folder, path).split(sep).join('/').slice(0, -'.jsonl'.length)
  const parent = /^(.+)\/subagents\/[^/]+$/.exec(id)?.[1]
  const isHeld = existsSync(lockPathOf(path))
  return { id, ...defined({ user: userOf(path), parent }), changed: stats.mtime.toISOString(), isHeld }
}

function sessionsIn(folder: string): readonly SessionInfo[] {
  const main = filesIn(folder).filter((path) => path.endsWith('.jsonl'))
  const agents = itemsIn(folder)
    .filter((item) => item.isDirectory())
    .flatMap(({ name }) => filesIn(join(folder, name, 'subagents')).filter((path) => path.endsWith('.jsonl')))
  return [...main, ...agents].flatMap((path) => infoOf(folder, path) ?? [])
}

function erase(folder: string, which: Erasure): number {
  const chosen = toErase(sessionsIn(folder), which, Date.now())
  try {
    for (const id of chosen) eraseFile(pathOf(folder, id))
  } catch (error) {
    throw new StoreError(`${diskProblem(error).message} Not everything was erased.`)
  }
  return chosen.size
}

/** With its folder, its lock and what was cached from it. A writer that still has it open is told at its next append. */
function eraseFile(path: string): void {
  if (existsSync(path)) discardCaches(path)
  rmSync(path, { force: true })
  rmSync(sessionFolder(path), { recursive: true, force: true })
  const name = lockPathOf(path)
  for (const file of filesIn(dirname(path)))
    if (file === name || file.startsWith(`${name}.`)) rmSync(file, { force: true })
}
