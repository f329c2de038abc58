// The lease on a session: whoever has it is its one writer, for as long as he renews it.
// It never waits, and it never takes a session from somebody who may still be writing.
import { type Disk, diskProblem, nodeDisk, remove } from '../write/disk.ts'
import { isToken, type LockPlace, type LockRecord, readLock, replaceLock, sweepLock, takeLock } from './lock-file.ts'
import { nodeProcesses, type Processes } from './processes.ts'

export type LeasePorts = {
  readonly now: () => number
  readonly newId: () => string
  readonly disk: Disk
  readonly processes: Processes
  /** Runs something again and again without keeping the process alive; gives back what stops it. */
  readonly every: (ms: number, run: () => void) => () => void
}

export type LeaseOptions = {
  /** Who asks, in words that help whoever is refused: a program's name, a window's title. */
  readonly owner: string
  readonly ports?: Partial<LeasePorts>
  /** How long a lease lasts when it is not renewed. 30 s unless said. */
  readonly durationMs?: number
  /** How long after its end a lease is still left to a holder that may be alive. Half the duration unless said. */
  readonly graceMs?: number
}

export type Holder = {
  readonly owner: string
  readonly pid: number
  readonly host: string
  readonly since: string
}

export type LeaseResult =
  | { readonly type: 'acquired'; readonly lease: Lease }
  | { readonly type: 'held'; readonly by: Holder }

export type LeaseState = { readonly type: 'held' } | LeaseLost

/** Somebody took the lease over, or (no `by`) the lock file is gone. It does not come back. */
export type LeaseLost = { readonly type: 'lease-lost'; readonly by?: Holder }

export type Lease = {
  /** Changes when the holder slept through the end of its lease and nobody had taken it. */
  readonly token: () => string
  /** Looks whether the lease still stands, and renews it when its end is near. Call it before each write. */
  readonly confirm: () => LeaseState
  readonly release: () => void
}

export const nodeLeasePorts: LeasePorts = {
  now: () => Date.now(),
  newId: () => crypto.randomUUID(),
  disk: nodeDisk,
  processes: nodeProcesses,
  every: (ms, run) => {
    const timer = setInterval(run, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}

/** What a lease works with, once the options are filled in. */
type Terms = LeasePorts & {
  readonly place: LockPlace
  readonly owner: string
  readonly durationMs: number
  readonly graceMs: number
}

export function lockPathOf(session: string): string {
  return `${session}.lock`
}

/** Asks for the lease on a session. The folder must be there; failures of the disk are thrown as the system says them. */
export function acquireLease(session: string, options: LeaseOptions): LeaseResult {
  const terms = termsOf(session, options)
  const mine = newRecord(terms)
  const taking = takeLock(terms.place, mine, (holder) => holder === undefined || isStale(terms, holder))
  if (taking.type === 'not-taken') {
    if (taking.by === undefined) throw new Error('A lock that nobody had was not taken.')
    return { type: 'held', by: holderOf(taking.by) }
  }
  try {
    sweepLock(terms.place, terms.processes.isDead)
  } catch (error) {
    // Nothing depends on it; the next one to come sweeps again.
    diskProblem(error)
  }
  return { type: 'acquired', lease: heldLease(terms, mine) }
}

function termsOf(session: string, options: LeaseOptions): Terms {
  const ports = { ...nodeLeasePorts, ...options.ports }
  const durationMs = options.durationMs ?? 30_000
  if (!(durationMs > 0)) throw new Error(`A lease of ${durationMs} ms: give more than 0.`)
  const place = { disk: ports.disk, path: lockPathOf(session) }
  return { ...ports, place, owner: options.owner, durationMs, graceMs: options.graceMs ?? durationMs / 2 }
}

function newRecord(terms: Terms): LockRecord {
  const now = terms.now()
  return {
    owner: terms.owner,
    ...terms.processes.self(),
    token: newToken(terms),
    acquiredAt: new Date(now).toISOString(),
    expiresAt: new Date(now + terms.durationMs).toISOString(),
  }
}

/** An id that can be part of a file's name. */
export function newToken(ports: LeasePorts): string {
  const id = ports.newId()
  if (!isToken(id)) throw new Error(`newId gave ${JSON.stringify(id)}: give 1 to 64 letters, digits, - or _.`)
  return id
}

/**
 * The dead write no more, so theirs is free at once. Of anybody else's (alive but stopped, or on another machine) the
 * time decides, and not before the grace is over: the holder itself stops trusting its lease when it ends, so in
 * between nobody writes.
 */
function isStale(terms: Terms, holder: LockRecord): boolean {
  return terms.processes.isDead(holder) || terms.now() >= Date.parse(holder.expiresAt) + terms.graceMs
}

function holderOf(lock: LockRecord): Holder {
  return { owner: lock.owner, pid: lock.pid, host: lock.host, since: lock.acquiredAt }
}

function heldLease(terms: Terms, first: LockRecord): Lease {
  let mine = first
  let lost: LeaseLost | undefined
  const confirm = (): LeaseState => {
    if (lost !== undefined) return lost
    const next = confirmed(terms, mine)
    if ('type' in next) lost = next
    else mine = next
    return lost ?? { type: 'held' }
  }
  const stop = terms.every(terms.durationMs / 3, () => {
    try {
      confirm()
    } catch (error) {
      // The next write asks again, meets the same failure, and has somebody to tell it to.
      diskProblem(error)
    }
  })
  const release = () => {
    stop()
    try {
      if (confirm().type === 'held') remove(terms.disk, terms.place.path)
    } catch (error) {
      // The lock stays behind, and ends as that of a crashed writer does.
      diskProblem(error)
    }
    lost ??= { type: 'lease-lost' }
  }
  return { token: () => mine.token, confirm, release }
}

/** The lock as it stands after the look: the same, renewed, or taken anew; or that it is lost. */
function confirmed(terms: Terms, mine: LockRecord): LockRecord | LeaseLost {
  const holder = readLock(terms.place)
  if (holder?.token !== mine.token) return lostTo(holder)
  const left = Date.parse(mine.expiresAt) - terms.now()
  if (left > terms.durationMs / 2) return mine
  return left > 0 ? renewed(terms, mine) : retaken(terms, mine)
}

function renewed(terms: Terms, mine: LockRecord): LockRecord {
  const next = { ...mine, expiresAt: new Date(terms.now() + terms.durationMs).toISOString() }
  try {
    replaceLock(terms.place, next)
    return next
  } catch (error) {
    // A full disk, say. There is time left, and the old lock still stands; the next look tries again.
    diskProblem(error)
    return mine
  }
}

/**
 * For a holder that slept (a closed laptop) past the end of its lease. Others may be taking it over at this very moment,
 * so it succeeds itself by the same step as they would: one of them gets it. If it is this one, nobody has written.
 */
function retaken(terms: Terms, mine: LockRecord): LockRecord | LeaseLost {
  const next = { ...newRecord(terms), acquiredAt: mine.acquiredAt }
  const taking = takeLock(terms.place, next, (holder) => holder?.token === mine.token)
  return taking.type === 'taken' ? next : lostTo(taking.by)
}

function lostTo(holder: LockRecord | undefined): LeaseLost {
  return holder === undefined ? { type: 'lease-lost' } : { type: 'lease-lost', by: holderOf(holder) }
}
