// The lock files next to a session, and the single atomic step in which a lock changes hands. Does not decide who may take a
// lock. No process ever sees a half-written lock. A lock names its process, so that others can tell reliably whether it is dead.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { defined, parseObject } from '../../core/message/json.ts'
import { type Disk, ignoring, remove, tolerating, withFile, writeWhole } from '../write/disk.ts'

export type LockRecord = ProcessMark & {
  readonly owner: string
  readonly token: string
  readonly acquiredAt: string
  readonly expiresAt: string
}

export type LockPlace = { readonly disk: Disk; readonly path: string }

/** How long an unreadable lock file (a power cut may leave one) counts as held. */
const unreadableMs = 30_000
const maxLockBytes = 8192

export function isToken(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text)
}

export function readLock({ disk, path }: LockPlace): LockRecord | undefined {
  const file = ignoring(['ENOENT'], () => disk.open(path, 'read'))
  if (file === undefined) return undefined
  try {
    const state = disk.stat(file)
    const bytes = new Uint8Array(Math.min(state.size, maxLockBytes))
    const length = disk.read(file, bytes, 0)
    return parseLock(new TextDecoder().decode(bytes.subarray(0, length))) ?? unreadableLock(state)
  } finally {
    disk.close(file)
  }
}

function parseLock(text: string): LockRecord | undefined {
  const value = parseObject(text) ?? {}
  const texts = ['owner', 'host', 'token', 'acquiredAt', 'expiresAt'].map((key) => value[key])
  const { pid, machine = '', started = '' } = value
  if (typeof pid !== 'number' || [...texts, machine, started].some((item) => typeof item !== 'string')) return undefined
  // The token becomes part of a file name, and anybody may have written this file.
  const isValid = isToken(String(value.token)) && !Number.isNaN(Date.parse(String(value.expiresAt)))
  return isValid ? (value as LockRecord) : undefined
}

function unreadableLock(state: { readonly inode: number; readonly modifiedAt: number }): LockRecord {
  return {
    owner: 'unknown (the lock file cannot be read)',
    pid: 0,
    host: 'unknown',
    token: `unreadable-${state.inode}`,
    acquiredAt: new Date(state.modifiedAt).toISOString(),
    expiresAt: new Date(state.modifiedAt + unreadableMs).toISOString(),
  }
}

/** The last one is in force. There are several during a takeover, and if a process died during one. */
export function lockChain(place: LockPlace): readonly LockRecord[] {
  const chain: LockRecord[] = []
  const seen = new Set<string>()
  let next = readLock(place)
  while (next !== undefined && !seen.has(next.token)) {
    chain.push(next)
    seen.add(next.token)
    next = readLock({ ...place, path: successorPath(place, next.token) })
  }
  return chain
}

/** `isTakeover`: there was a lock before, and its holder is gone. */
export type Taking =
  | { readonly type: 'taken'; readonly isTakeover: boolean }
  | { readonly type: 'not-taken'; readonly by: LockRecord | undefined }

/**
 * Takes the lock if `mayTake` accepts the current holder (undefined: nobody). However many processes try at once, and
 * wherever one is stopped or killed, at most one succeeds each holder: A lock is succeeded by creating the file named
 * after its token, which only one process can do, since tokens are unique. The winner then moves that file into the
 * place of the lock. A slow process may still create a successor of a lock that is long gone, after the real
 * successor's file moved into place. It notices that the lock does not lead to its own file, removes that file and
 * starts over.
 */
export function takeLock(
  place: LockPlace,
  mine: LockRecord,
  mayTake: (holder: LockRecord | undefined) => boolean,
): Taking {
  const { disk, path } = place
  const draft = draftPath(place, mine.token)
  try {
    writeDraft(place, mine)
    for (let attempt = 0; attempt < 1000; attempt++) {
      const holder = lockChain(place).at(-1)
      if (!mayTake(holder)) return { type: 'not-taken', by: holder }
      const claim = holder === undefined ? path : successorPath(place, holder.token)
      if (!linkDraft(place, mine, claim)) continue
      if (holder === undefined) return { type: 'taken', isTakeover: false }
      if (lockChain(place).at(-1)?.token === mine.token) {
        disk.rename(claim, path)
        return { type: 'taken', isTakeover: true }
      }
      remove(disk, claim)
    }
  } finally {
    remove(disk, draft)
  }
  throw new Error(`The lock ${path} changed hands a thousand times during one attempt to take it.`)
}

/** Replaces our own lock. Only for its holder. */
export function replaceLock(place: LockPlace, mine: LockRecord): void {
  writeDraft(place, mine)
  place.disk.rename(draftPath(place, mine.token), place.path)
}

/** Removes files that dead processes left next to the lock. Only for the holder, because they may still count for others. */
export function sweepLock(place: LockPlace, isDead: (mark: ProcessMark) => boolean): void {
  const folder = dirname(place.path)
  const prefix = `${basename(place.path)}.`
  for (const name of place.disk.list(folder)) {
    if (!name.startsWith(prefix) || !/^[\w-]{1,64}\.(draft|next)$/.test(name.slice(prefix.length))) continue
    const path = join(folder, name)
    // Other users' files may not be ours to read or remove.
    const found = ignoring(['EACCES', 'EPERM'], () => readLock({ ...place, path }))
    // An unreadable file is a draft that was cut short. If its writer is still alive, it writes the file again.
    if (found !== undefined && (isDead(found) || found.token.startsWith('unreadable-'))) remove(place.disk, path)
  }
}

function successorPath(place: LockPlace, token: string): string {
  return `${place.path}.${token}.next`
}

function draftPath(place: LockPlace, token: string): string {
  return `${place.path}.${token}.draft`
}

function writeDraft(place: LockPlace, mine: LockRecord): void {
  // Never reuses the old file, which may already be the lock under its other name.
  const { disk } = place
  const path = draftPath(place, mine.token)
  remove(disk, path)
  const bytes = new TextEncoder().encode(`${JSON.stringify(mine)}\n`)
  withFile(disk, [path, 'create-only'], (file) => writeWhole({ disk, file }, bytes))
}

function linkDraft(place: LockPlace, mine: LockRecord, to: string): boolean {
  const done = ignoring(['EEXIST', 'ENOENT'], () => {
    place.disk.link(draftPath(place, mine.token), to)
    return true
  })
  // Another process was first, or swept the draft away. In both cases the draft is written again.
  if (done === undefined) writeDraft(place, mine)
  return done ?? false
}

export type ProcessMark = {
  readonly pid: number
  readonly host: string
  /** Boot id and pid namespace, on Linux. */
  readonly machine?: string
  /** Start time in clock ticks: pids are reused, this pair is not. */
  readonly started?: string
}

export const nodeProcesses = { self: ownMark, isHere, isDead }

function ownMark(): ProcessMark {
  const machine = machineName()
  const started = readProcess(process.pid)?.started
  return { pid: process.pid, host: hostname(), ...defined({ machine, started }) }
}

/** True if the process is visible: on this machine, and not in another container. */
function isHere(mark: ProcessMark): boolean {
  return mark.host === hostname() && mark.machine === machineName()
}

/** True only if the process can never run again. In doubt it counts as alive. */
function isDead(mark: ProcessMark): boolean {
  if (!isHere(mark)) return false
  // kill(2) takes 0 and below as process groups.
  if (!Number.isInteger(mark.pid) || mark.pid < 1) return false
  if (!isAlive(mark.pid)) return true
  const found = readProcess(mark.pid)
  if (found === undefined) return false
  // A zombie still answers kill(2); in a container without an init it does so forever.
  if (found.state === 'Z' || found.state === 'X') return true
  return mark.started !== undefined && mark.started !== found.started
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it exists but belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

function readProcess(pid: number): { readonly state: string; readonly started: string } | undefined {
  const text = tolerating(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (text === undefined) return undefined
  // The second field, the program name in parentheses, may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields[0], fields[19]]
  return state === undefined || started === undefined ? undefined : { state, started }
}

function machineName(): string | undefined {
  const boot = tolerating(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const space = tolerating(() => readlinkSync('/proc/self/ns/pid'))
  return boot === undefined || space === undefined ? undefined : `${boot} ${space}`
}
