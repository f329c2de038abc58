// A session of a store while it is open: it writes, reads and searches the records. If the store answers later, records are
// queued in order and sent in the background; flush() waits for them. After a failure exactly the same records are sent
// again, so that none is stored twice.
import { type JsonObject, toJson } from '../message/json.ts'
import { appendTo } from '../ports/checked-store.ts'
import { errorText, guarded } from '../ports/guarded.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { type Appended, type HeldSession, type Recalled, reasonOf, type StoredRecord } from '../ports/session-store.ts'
import { StoreError, type StoreResult } from '../ports/store.ts'
import type { Entry } from '../transcript/format/entry.ts'

export type StorePorts = Pick<CompactionPorts, 'newId' | 'now' | 'wait'>

/** The pauses between attempts, in milliseconds: 15 seconds together. A database that restarts is back in a few seconds. */
const pauses = [50, 100, 200, 400, 800, 1_500, 2_000, 2_000, 3_000, 5_000]

/** No attempt starts after this time, however long each of them took. */
const retryMs = 15_000

/** How long a call waits for a store that does not answer at all. */
const maxWaitMs = 20_000

/** How many records go into one write. A batch that must be stored whole is never split. */
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
  /** How many records were appended, and how many of these are stored. */
  private appended = 0
  private stored = 0
  /** The write in progress. It is never one that has ended: whoever finds it can wait for its result. */
  private writing: Promise<StoreResult> | undefined
  /** Why nothing more can be stored. */
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
    // Whoever needs to know the outcome calls flush().
    this.startWriting()
    return { type: 'stored' }
  }

  /**
   * Waits until the records that were appended before the call are stored, not for later ones. A call after a failure tries
   * the same records again.
   */
  flush = async (): Promise<StoreResult> => {
    const upTo = this.appended
    while (this.stored < upTo) {
      if (this.end && !this.writing) return this.end
      const result = await this.inTime(this.startWriting())
      if (result.type === 'store-failed') return result
    }
    return { type: 'stored' }
  }

  /** Everything, oldest first. Throws a StoreError. */
  entries = async (): Promise<readonly Entry[]> => {
    const result = await this.flush()
    if (result.type === 'store-failed') throw new StoreError(result.why, result)
    return this.session.all()
  }

  recall = async (words: string, limit: number): Promise<Recalled> => {
    await this.flush()
    return this.session.recall(words, limit)
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
    await guarded(() => this.session.release(), { wait: this.ports.wait, timeoutMs: maxWaitMs })
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
    // No await from here on: nobody may find this write in `writing` after its outcome is known.
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

  /** The result of a write, or a failure if the store does not answer. The write goes on, and the next call waits for it. */
  private async inTime(writing: Promise<StoreResult>): Promise<StoreResult> {
    const called = await guarded(() => writing, { wait: this.ports.wait, timeoutMs: maxWaitMs })
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
