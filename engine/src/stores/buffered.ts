// Lets a session write to a store that answers later. Records are taken down in order and sent in the background; flush()
// waits for them. After a failure the very same records are sent again, so that none is stored twice.
import type { JsonObject } from '../core/message/json.ts'
import { toJson } from '../core/message/to-json.ts'
import { errorText } from '../core/ports/guarded.ts'
import type { Appended, HeldSession, StoredRecord } from '../core/ports/session-store.ts'
import { type Store, StoreError, type StoreResult } from '../core/ports/store.ts'
import type { Entry } from '../core/transcript/format/entry.ts'

export type BufferPorts = {
  readonly newId: () => string
  readonly wait: (milliseconds: number) => Promise<void>
}

/** What is waited between two attempts, in milliseconds: a database that restarts is back in a few seconds. */
const pauses = [50, 100, 200, 400, 800, 1_500, 2_000, 2_000, 3_000, 5_000]

/** How many records go into one write. A batch that must be stored whole is never split. */
const mostRecords = 500

export class BufferedStore implements Store {
  readonly path: string | undefined
  private readonly session: HeldSession
  private readonly ports: BufferPorts
  private version: number
  private batches: readonly (readonly StoredRecord[])[] = []
  /** What was sent and is not known to be stored. It stays as it is until it is. */
  private sent: readonly StoredRecord[] = []
  private sending: Promise<StoreResult> | undefined
  /** Why nothing more can be stored. */
  private end: string | undefined

  constructor(session: HeldSession, ports: BufferPorts) {
    this.path = session.path
    this.session = session
    this.ports = ports
    this.version = session.version
  }

  append = (records: readonly JsonObject[]): StoreResult => {
    if (this.end !== undefined) return { type: 'store-failed', why: this.end }
    for (const record of records) {
      const text = toJson(record)
      if (typeof text === 'string') continue
      return { type: 'store-failed', why: `A record cannot be stored: ${text.where || 'it'} ${text.why}.` }
    }
    const { newId } = this.ports
    const batch = records.map((record) => ({ id: typeof record.uuid === 'string' ? record.uuid : newId(), record }))
    this.batches = [...this.batches, batch]
    // Whoever needs to know the outcome calls flush().
    void this.flush()
    return { type: 'stored' }
  }

  flush = (): Promise<StoreResult> => {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined
    })
    return this.sending
  }

  entries = async (): Promise<readonly Entry[]> => {
    const result = await this.flush()
    if (result.type === 'store-failed') throw new StoreError(result.why)
    return this.session.all()
  }

  close = async (): Promise<void> => {
    this.end ??= `The session ${this.session.id} is closed. Open it again to write.`
    await this.sending
    await this.session.release()
  }

  private async sendAll(): Promise<StoreResult> {
    for (;;) {
      if (this.sent.length === 0) this.takeNext()
      if (this.sent.length === 0) return { type: 'stored' }
      const outcome = await this.send()
      if (outcome.type !== 'stored') return this.failed(outcome)
      this.version = outcome.version
      this.sent = []
    }
  }

  private takeNext(): void {
    let count = 0
    const size = this.batches.findIndex((batch, at) => {
      count += batch.length
      return at > 0 && count > mostRecords
    })
    const taken = size < 0 ? this.batches.length : size
    this.sent = this.batches.slice(0, taken).flat()
    this.batches = this.batches.slice(taken)
  }

  private async send(): Promise<Appended> {
    let outcome = await this.attempt()
    for (const pause of pauses) {
      if (outcome.type !== 'unavailable') break
      await this.ports.wait(pause)
      outcome = await this.attempt()
    }
    return outcome
  }

  private async attempt(): Promise<Appended> {
    try {
      return await this.session.append(this.sent, this.version)
    } catch (error) {
      return { type: 'unavailable', why: errorText(error) }
    }
  }

  private failed({ type, why }: Exclude<Appended, { readonly type: 'stored' }>): StoreResult {
    const left = [...this.sent, ...this.batches.flat()]
    const named = left.slice(0, 5).map(({ id, record }) => `${String(record.type)} ${id}`)
    const more = left.length > named.length ? ` and ${left.length - named.length} more` : ''
    const whole = `${why} Not stored: ${named.join(', ')}${more}.`
    if (type === 'refused') this.end = whole
    return { type: 'store-failed', why: whole }
  }
}
