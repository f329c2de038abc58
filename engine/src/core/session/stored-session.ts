// Opens a session of a store, and writes, reads and searches its records while it is open. If the store answers later,
// records are queued in order and sent in the background; flush() waits for them. After a failure exactly the same records are
// sent again, so that none is stored twice.
import { defined, errorText, type JsonObject, stringAt, toJson } from '../message/json.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { safely } from '../ports/safely.ts'
import {
  type Appended,
  appendTo,
  type HeldSession,
  type OpenOptions,
  type OpenResult,
  openIn,
  type Recalled,
  reasonOf,
  type SessionStore,
  type StoredRecord,
  StoreError,
  type StoreResult,
} from '../ports/session-store.ts'
import { doInSlices, type Pause } from '../text/slices.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { undoOfTorn } from '../transcript/tree/changes.ts'

export type StorePorts = Pick<CompactionPorts, 'newId' | 'now' | 'wait'>

/** The pauses between attempts, in milliseconds: 15 seconds together. A database that restarts is back within seconds. */
const pauses = [50, 100, 200, 400, 800, 1_500, 2_000, 2_000, 3_000, 5_000]

/** No attempt starts after this time, even if attempts took long. */
const retryMs = 15_000

/** How long a call waits for a store that does not answer at all. */
const maxWaitMs = 20_000

/** The maximum number of records per write. A batch that must be stored whole is never split. */
const maxRecords = 500

type StoreFailed = Extract<StoreResult, { readonly type: 'store-failed' }>

export class StoredSession {
  private readonly session: HeldSession
  private readonly ports: StorePorts
  private version: number
  /** Records that wait, one list for each write. */
  private readonly waiting: StoredRecord[][] = []
  /** The records of the current write. After a failure they stay until they are stored. */
  private sent: readonly StoredRecord[] = []
  /** Number of appended records, and how many of these are stored. */
  private appended = 0
  private stored = 0
  /** The write in progress, never one that has ended, so every reader can wait for its result. */
  private writing: Promise<StoreResult> | undefined
  /** The reason why nothing more can be stored. */
  private end: StoreFailed | undefined

  constructor(session: HeldSession, ports: StorePorts) {
    this.session = session
    this.ports = ports
    this.version = session.version
  }

  /** Several records are one write: all of them or none. */
  append = (records: readonly JsonObject[]): StoreResult => {
    if (this.end) return this.end
    if (this.session.appendNow) return this.session.appendNow(records)
    for (const record of records) {
      const text = toJson(record)
      if (typeof text === 'string') continue
      const why = `A record cannot be stored: ${text.where || 'it'} ${text.why}.`
      return { type: 'store-failed', why, reason: 'invalid' }
    }
    const { newId } = this.ports
    this.queue(records.map((record) => ({ id: typeof record.uuid === 'string' ? record.uuid : newId(), record })))
    // A caller that needs the outcome calls flush().
    this.startWriting()
    return { type: 'stored' }
  }

  /**
   * Waits until the records appended before the call are stored. Ignores later records. A call after a failure tries the same
   * records again.
   */
  flush = async (): Promise<StoreResult> => {
    const upTo = this.appended
    while (this.stored < upTo) {
      if (this.end && !this.writing) return this.end
      const result = await this.inTime(this.startWriting())
      if (result.type === 'store-failed') return result
    }
    return this.end ? { type: 'stored' } : (this.session.sync?.() ?? { type: 'stored' })
  }

  /** Everything, oldest first. Throws a StoreError. */
  entries = async (): Promise<readonly Entry[]> => {
    const result = await this.flush()
    if (result.type === 'store-failed') throw new StoreError(result.why, result)
    return this.session.all()
  }

  recall = async (words: string, limit: number, pause?: Pause): Promise<Recalled> => {
    await this.flush()
    return this.session.recall(words, limit, pause)
  }

  read = async (id: string): Promise<string | undefined> => {
    await this.flush()
    return this.session.read(id)
  }

  close = async (): Promise<void> => {
    const why = `The session ${this.session.id} is closed. Open it again to write.`
    this.end ??= { type: 'store-failed', why, reason: 'closed' }
    while (this.writing) {
      const result = await this.inTime(this.writing)
      if (result.type === 'store-failed') break
    }
    await safely(() => this.session.release(), { wait: this.ports.wait, timeoutMs: maxWaitMs })
  }

  private queue(batch: readonly StoredRecord[]): void {
    const last = this.waiting.at(-1)
    const next = last && last.length + batch.length <= maxRecords ? last : []
    for (const record of batch) next.push(record)
    if (next !== last && next.length > 0) this.waiting.push(next)
    this.appended += batch.length
  }

  private startWriting(): Promise<StoreResult> {
    if (this.writing) return this.writing
    if (this.sent.length === 0) this.sent = this.waiting.shift() ?? []
    if (this.sent.length === 0) return Promise.resolve({ type: 'stored' })
    this.writing = this.write()
    return this.writing
  }

  private async write(): Promise<StoreResult> {
    const outcome = await this.send()
    // No await from here on, so that no caller finds this write in `writing` after its outcome is known.
    this.writing = undefined
    if (outcome.type !== 'stored') return this.failed(outcome)
    this.version = outcome.version
    this.stored += this.sent.length
    this.sent = []
    this.startWriting()
    return { type: 'stored' }
  }

  private async send(): Promise<Appended> {
    const { now, wait } = this.ports
    const end = now() + retryMs
    let outcome = await this.attempt()
    for (const pause of pauses) {
      if (outcome.type !== 'unavailable' || now() >= end) break
      await wait(pause)
      outcome = await this.attempt()
    }
    return outcome
  }

  private async attempt(): Promise<Appended> {
    try {
      return await appendTo(this.session, this.sent, this.version)
    } catch (error) {
      return { type: 'unavailable', why: errorText(error) }
    }
  }

  /** The result of a write, or a failure if the store does not answer. The write continues, and the next call waits for it. */
  private async inTime(writing: Promise<StoreResult>): Promise<StoreResult> {
    const called = await safely(() => writing, { wait: this.ports.wait, timeoutMs: maxWaitMs })
    if (called.type === 'returned') return called.value
    return this.failed({ type: 'unavailable', why: 'The session store does not answer.' })
  }

  private failed(failure: Exclude<Appended, { readonly type: 'stored' }>): StoreFailed {
    const left = [...this.sent, ...this.waiting.flat()]
    const named = left.slice(0, 5).map(({ id, record }) => `${String(record.type)} ${id}`)
    const more = left.length > named.length ? ` and ${left.length - named.length} more` : ''
    const why = `${failure.why} Not stored: ${named.join(', ')}${more}.`
    const failed: StoreFailed = { type: 'store-failed', why, reason: reasonOf(failure) }
    if (failure.type === 'refused') this.end = failed
    return failed
  }
}

/** The part of a store that an engine needs. */
export type Opener = Pick<SessionStore, 'open'>

export type OpenSessionOptions = Omit<OpenOptions, 'as'> & {
  readonly as: OpenOptions['as'] | 'existing-or-new'
  /** How long to wait for a session that another writer holds. Default: no wait. */
  readonly waitMs?: number | undefined
}

/** Throws a StoreError with the reason if it cannot be opened. */
export async function openSession(
  store: Opener,
  id: string,
  options: OpenSessionOptions & StorePorts,
): Promise<HeldSession> {
  return repaired(await heldSession(store, id, options), options)
}

/** The session without a repair. Throws a StoreError with the reason if it cannot be opened. */
export async function heldSession(
  store: Opener,
  id: string,
  { wait, now, as, waitMs = 0, owner, user, parent, isCopy }: OpenSessionOptions & Omit<StorePorts, 'newId'>,
): Promise<HeldSession> {
  const how = { owner, user, parent, ...defined({ isCopy }) }
  const end = now() + waitMs
  for (;;) {
    const found = await openIn(store, id, { ...how, as: as === 'new' ? 'new' : 'existing' })
    const isToBeStarted = found.type === 'missing' && as === 'existing-or-new'
    const result = isToBeStarted ? await openIn(store, id, { ...how, as: 'new' }) : found
    // Another writer started it in between.
    const isTaken = result.type === 'held' || (isToBeStarted && result.type === 'exists')
    if (result.type === 'opened') return result.session
    if (!isTaken || now() >= end) {
      const cause = result.type === 'held' ? result.holder : undefined
      throw new StoreError(whyNotOpened(result, id), { reason: result.type, cause })
    }
    await wait(50)
  }
}

export function whyNotOpened(result: Exclude<OpenResult, { readonly type: 'opened' }>, id: string): string {
  if (result.why !== undefined) return result.why
  if (result.type === 'missing') return `There is no session ${id}. Start it with start({ id }).`
  return `There is a session ${id} already. Continue it with open(id).`
}

/** A store, or the part of one that is available. */
export type Readable = Opener & Partial<Pick<SessionStore, 'records'>>

/** All records of a session, without taking it. Throws a StoreError if there are none. */
export async function recordsIn({ records }: Readable, id: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const { record } of records?.(id) ?? []) found.push(record)
  if (found.length > 0) return found
  throw new StoreError(`There is no session ${id}, or it has no records.`, { reason: 'missing' })
}

/** The id in the records, otherwise the name of the file or the id in the store. */
export function sessionIdOf({ entries, path, id }: HeldSession): string {
  const name = path?.replace(/^.*[/\\]/s, '').replace(/(?<=.)\.[^.]*$/s, '')
  return entries.map(({ record }) => stringAt(record, 'sessionId')).find((found) => found !== undefined) ?? name ?? id
}

/** Adds a record that undoes half a compaction, left by a crash or by a copy. */
async function repaired(session: HeldSession, { newId, now }: StorePorts): Promise<HeldSession> {
  const undo = undoOfTorn(session.entries, { uuid: newId(), timestamp: new Date(now()).toISOString() })
  if (undo === undefined) return session
  const appended = await appendTo(session, [{ id: String(undo.record.uuid), record: undo.record }], session.version)
  if (appended.type === 'stored') {
    return { ...session, version: appended.version, entries: await session.all(), isWhole: true }
  }
  await session.release()
  throw new StoreError(appended.why, { reason: reasonOf(appended) })
}

export type Recall = Pick<HeldSession, 'recall' | 'read'>

/** Recall without an index: every search reads all entries. The first search loads the code. */
export function recallIn(entries: () => Iterable<Entry> | Promise<Iterable<Entry>>): Recall {
  const load = () => import('./recall-entries.ts')
  return {
    recall: async (words, limit, pause) => {
      const { recallingFrom } = await load()
      return doInSlices(recallingFrom(await entries(), words, limit), pause)
    },
    read: async (id) => (await load()).readFrom(await entries(), id),
  }
}
