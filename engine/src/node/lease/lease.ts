// The lease on a session: its holder is the only writer until the lease expires or is released. It never blocks, and
// never takes a session from a holder that may still be writing.
import { nodeDisk, remove, tolerating } from '../write/disk.ts'
import {
  isToken,
  type LockPlace,
  type LockRecord,
  lockChain,
  nodeProcesses,
  readLock,
  replaceLock,
  sweepLock,
  takeLock,
} from './lock-file.ts'

export const nodeLeasePorts = {
  now: () => Date.now(),
  newId: (): string => crypto.randomUUID(),
  disk: nodeDisk,
  processes: nodeProcesses,
  /** Calls `run` repeatedly without keeping the process alive; returns a function that stops it. */
  every: (ms: number, run: () => void) => {
    const timer = setInterval(run, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}

export type LeasePorts = Readonly<typeof nodeLeasePorts>

export type LeaseOptions = {
  /** A program's name or a window's title, shown to whoever is refused. */
  readonly owner: string
  readonly ports?: Partial<LeasePorts>
  /** How long a lease lasts unless renewed. Default: 30 s. */
  readonly durationMs?: number
  /** How long an expired lease still protects a holder that may be alive. Default: half the duration. */
  readonly graceMs?: number
}

export type Holder = {
  readonly owner: string
  readonly pid: number
  readonly host: string
  readonly since: string
  /**
   * Set if the holder is on another machine or in another container and may have crashed: after this time the session is free,
   * unless the holder renews its lease. A crash on this machine is noticed at once.
   */
  readonly freeInMs?: number
}

export type LeaseResult =
  | { readonly type: 'acquired'; readonly lease: Lease }
  | { readonly type: 'held'; readonly by: Holder }

export type LeaseState = { readonly type: 'held' } | LeaseLost

/** Another process took it over, or (without `by`) the lock file is gone. It cannot be regained. */
export type LeaseLost = { readonly type: 'lease-lost'; readonly by?: Holder }

export type Lease = {
  /** Changes if the holder slept past the expiry and no other process had taken the lease. */
  readonly token: () => string
  /** Checks that the lease still holds, and renews it when it is about to expire. Call it before each write. */
  readonly confirm: () => LeaseState
  readonly release: () => void
}

type LeaseTerms = LeasePorts & {
  readonly place: LockPlace
  readonly owner: string
  readonly durationMs: number
  readonly graceMs: number
}

export function lockPathOf(session: string): string {
  return `${session}.lock`
}

/** The folder must exist. Disk errors are thrown. */
export function acquireLease(session: string, options: LeaseOptions): LeaseResult {
  const terms = termsOf(session, options)
  const mine = newRecord(terms)
  const taking = takeLock(terms.place, mine, (holder) => holder === undefined || isStale(terms, holder))
  if (taking.type === 'not-taken') {
    if (taking.by === undefined) throw new Error('A free lock was not taken.')
    return { type: 'held', by: holderOf(taking.by, terms) }
  }
  // Only a dead process leaves files next to a lock. Finding them requires reading the whole folder, which may hold thousands of
  // sessions. If that fails, the next holder that takes over from a dead one sweeps.
  if (taking.isTakeover) tolerating(() => sweepLock(terms.place, terms.processes.isDead))
  return { type: 'acquired', lease: heldLease(terms, mine) }
}

/** True if a writer has the session now. The lock of a dead process does not count. */
export function isLeaseHeld(session: string): boolean {
  const terms = termsOf(session, { owner: '' })
  // An unreadable lock may belong to a live process.
  const isHeld = tolerating(() => {
    const holder = lockChain(terms.place).at(-1)
    return holder !== undefined && !isStale(terms, holder)
  })
  return isHeld ?? true
}

function termsOf(session: string, options: LeaseOptions): LeaseTerms {
  const ports = { ...nodeLeasePorts, ...options.ports }
  const durationMs = options.durationMs ?? 30_000
  if (!(durationMs > 0)) throw new Error(`A lease cannot last ${durationMs} ms: durationMs must be more than 0.`)
  const place = { disk: ports.disk, path: lockPathOf(session) }
  return { ...ports, place, owner: options.owner, durationMs, graceMs: options.graceMs ?? durationMs / 2 }
}

function newRecord(terms: LeaseTerms): LockRecord {
  const now = terms.now()
  return {
    owner: terms.owner,
    ...terms.processes.self(),
    token: newToken(terms),
    acquiredAt: new Date(now).toISOString(),
    expiresAt: new Date(now + terms.durationMs).toISOString(),
  }
}

export function newToken(ports: LeasePorts): string {
  const id = ports.newId()
  if (!isToken(id))
    throw new Error(`newId returned ${JSON.stringify(id)}; an id must be 1 to 64 letters, digits, "-" or "_".`)
  return id
}

/** A dead process cannot write. Any other holder stops trusting its lease when it expires, so nobody writes in between. */
function isStale(terms: LeaseTerms, holder: LockRecord): boolean {
  return terms.processes.isDead(holder) || terms.now() >= Date.parse(holder.expiresAt) + terms.graceMs
}

function holderOf(lock: LockRecord, { processes, now, graceMs }: LeaseTerms): Holder {
  const { owner, pid, host, acquiredAt: since, expiresAt } = lock
  const freeInMs = Math.max(0, Date.parse(expiresAt) + graceMs - now())
  return { owner, pid, host, since, ...(processes.isHere(lock) ? {} : { freeInMs }) }
}

function heldLease(terms: LeaseTerms, first: LockRecord): Lease {
  let mine = first
  let lost: LeaseLost | undefined
  const confirm = (): LeaseState => {
    if (lost !== undefined) return lost
    const next = confirmLock(terms, mine)
    if ('type' in next) lost = next
    else mine = next
    return lost ?? { type: 'held' }
  }
  // If this fails, the next write fails the same way and can report it.
  const stop = terms.every(terms.durationMs / 3, () => tolerating(confirm))
  const release = () => {
    stop()
    // If this fails, the lock stays and expires like that of a crashed writer.
    tolerating(() => confirm().type === 'held' && remove(terms.disk, terms.place.path))
    lost ??= { type: 'lease-lost' }
  }
  return { token: () => mine.token, confirm, release }
}

/** The current lock: unchanged, renewed or retaken; or the report that it is lost. */
function confirmLock(terms: LeaseTerms, mine: LockRecord): LockRecord | LeaseLost {
  const holder = readLock(terms.place)
  if (holder?.token !== mine.token) return lostTo(holder, terms)
  const left = Date.parse(mine.expiresAt) - terms.now()
  if (left > terms.durationMs / 2) return mine
  return left > 0 ? renewLock(terms, mine) : retakeLock(terms, mine)
}

function renewLock(terms: LeaseTerms, mine: LockRecord): LockRecord {
  const next = { ...mine, expiresAt: new Date(terms.now() + terms.durationMs).toISOString() }
  const isReplaced = tolerating(() => {
    replaceLock(terms.place, next)
    return true
  })
  // On a full disk, for example, the old lock still holds, and the next check tries again.
  return isReplaced ? next : mine
}

/**
 * For a holder that slept (a closed laptop) past the expiry. Others may be taking over at this moment, so it uses the same atomic
 * step as they do. If it wins, no other process has written in between.
 */
function retakeLock(terms: LeaseTerms, mine: LockRecord): LockRecord | LeaseLost {
  const next = { ...newRecord(terms), acquiredAt: mine.acquiredAt }
  const taking = takeLock(terms.place, next, (holder) => holder?.token === mine.token)
  return taking.type === 'taken' ? next : lostTo(taking.by, terms)
}

function lostTo(holder: LockRecord | undefined, terms: LeaseTerms): LeaseLost {
  return holder === undefined ? { type: 'lease-lost' } : { type: 'lease-lost', by: holderOf(holder, terms) }
}
