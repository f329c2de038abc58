// One conversation: the store it is written to, the fold that makes the view, the ledger of its facts. It knows records
// and edits; sizes, models and requests are others' business.
import { emptyLedger, type Ledger } from '../ledger/facts.ts'
import { fromJson } from '../ledger/json.ts'
import { createLedger, type LedgerBook } from '../ledger/ledger.ts'
import { type JsonObject, objectAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { readCompaction } from '../transcript/compaction-records.ts'
import { type Edit, editRecord } from '../transcript/edits.ts'
import { type Entry, headOf } from '../transcript/entry.ts'
import { createFold, type Fold, foldEntries, type View } from '../transcript/fold.ts'
import { messageOf } from '../transcript/messages.ts'
import { type QueuedWords, queuedWords } from '../transcript/queued-words.ts'
import { type Body, type Stamp, stamped } from './records.ts'
import { newestChange, trimmed, type Undoable } from './retained.ts'
import type { RecordPlace } from './rung.ts'
import { noPosition, type Store, StoreError, type StoreResult } from './store.ts'

export type ConversationInput = {
  readonly store: Store
  readonly sessionId: string
  readonly envelope: JsonObject
  /** What was there when it was opened, in the order of the file. */
  readonly entries: readonly Entry[]
  readonly now: () => number
  readonly newId: () => string
  /** Sees every entry of this conversation once, in order; `isLive` when it came after the opening. */
  readonly watch?: (record: JsonObject, message: ViewMessage | undefined, how: { readonly isLive: boolean }) => void
}

export type Conversation = {
  readonly view: () => View
  readonly ledger: () => Ledger
  /** Words that the user typed while the agent worked and that are in no message. */
  readonly queued: () => readonly QueuedWords[]
  readonly place: () => RecordPlace
  readonly record: (uuid: string) => JsonObject | undefined
  /** Appends in one write; returns their uuids, which may be given. Throws a StoreError when they cannot be written. */
  readonly append: (bodies: readonly Body[], uuids?: readonly string[]) => readonly string[]
  /** Appends records that annotate the session and hang nowhere. */
  readonly note: (records: readonly JsonObject[]) => void
  readonly edit: (edits: readonly Edit[]) => readonly string[]
  /** Appends a compaction's records, all or none. */
  readonly commit: (records: readonly JsonObject[]) => StoreResult
  /** The view as it would be with these records. */
  readonly tryOut: (records: readonly JsonObject[]) => View
  /** These edits as records that hang behind one another. */
  readonly editRecords: (edits: readonly Edit[]) => readonly JsonObject[]
  /** The newest edit or compaction in force. */
  readonly newestChange: () => Undoable | undefined
  /** Entries that the fold holds, for those who test how many there are. */
  readonly held: () => number
}

export function createConversation(input: ConversationInput): Conversation {
  return new Talk(input)
}

class Talk implements Conversation {
  private readonly input: ConversationInput
  private readonly book: LedgerBook
  private entries: Entry[] = []
  private fold: Fold = createFold()
  private tip: string | null = null
  private isTrimmed = false
  private isOpen = false

  constructor(input: ConversationInput) {
    this.input = input
    // A boundary of ours carries the facts of all that came before it.
    const known = input.entries.findLastIndex(({ record }) => readCompaction(record).ledger !== undefined)
    const carried = readCompaction(input.entries[known]?.record).ledger
    this.book = createLedger(carried === undefined ? emptyLedger : fromJson(carried))
    for (const [at, entry] of input.entries.entries()) this.take(entry, { isKnown: at <= known })
    this.isOpen = true
  }

  view = (): View => this.fold.view()
  ledger = (): Ledger => this.book.ledger()
  queued = (): readonly QueuedWords[] => queuedWords(this.entries)
  record = (uuid: string): JsonObject | undefined => this.fold.entry(uuid)?.record
  held = (): number => this.entries.length

  place = (): RecordPlace => {
    const { sessionId, envelope, store } = this.input
    return { tip: this.tip, sessionId, envelope, transcript: store.path }
  }

  append = (bodies: readonly Body[], uuids: readonly string[] = []): readonly string[] => {
    const records = this.chained(
      bodies.map((body, at) => (place) => stamped(body, { ...place, uuid: uuids[at] ?? place.uuid })),
    )
    this.write(records)
    return records.map(({ uuid }) => String(uuid))
  }

  note = (records: readonly JsonObject[]): void => this.write(records)

  editRecords = (edits: readonly Edit[]): readonly JsonObject[] =>
    this.chained(edits.map((edit) => (place) => editRecord(edit, place)))

  edit = (edits: readonly Edit[]): readonly string[] => {
    const records = this.editRecords(edits)
    const isFar = edits.some((edit) => this.isFar(edit))
    this.write(records)
    if (isFar) this.reload()
    return records.map(({ uuid }) => String(uuid))
  }

  commit = (records: readonly JsonObject[]): StoreResult => {
    const before = this.view()
    const stored = this.input.store.append(records)
    if (stored.type === 'store-failed') return stored
    for (const record of records) this.take({ record, position: noPosition })
    const left = trimmed(this.entries, before)
    if (left.length < this.entries.length) {
      this.isTrimmed = true
      this.hold(left)
    }
    return stored
  }

  tryOut = (records: readonly JsonObject[]): View =>
    foldEntries([...this.entries, ...records.map((record) => ({ record, position: noPosition }))])

  newestChange = (): Undoable | undefined => {
    const found = newestChange(this.entries)
    if (found || !this.isTrimmed) return found
    this.reload()
    return newestChange(this.entries)
  }

  /** An undo, or a rewind, may lay open what is no longer held here: whatever came before the first boundary that is. */
  private isFar(edit: Edit): boolean {
    if (!this.isTrimmed || (edit.type !== 'undo' && edit.type !== 'rewind')) return false
    const target = edit.type === 'undo' ? edit.uuid : edit.to
    const first = this.entries.findIndex((entry) => headOf(entry).boundary !== undefined)
    return this.entries.findIndex(({ record }) => record.uuid === target) <= first
  }

  /** Each record hangs on the one before it. */
  private chained(makers: readonly ((place: Stamp) => JsonObject)[]): readonly JsonObject[] {
    const { sessionId, envelope, now, newId } = this.input
    const timestamp = new Date(now()).toISOString()
    let parentUuid = this.tip
    return makers.map((make) => {
      const record = make({ uuid: newId(), parentUuid, timestamp, sessionId, envelope })
      parentUuid = String(record.uuid)
      return record
    })
  }

  private write(records: readonly JsonObject[]): void {
    if (records.length === 0) return
    const stored = this.input.store.append(records)
    if (stored.type === 'store-failed') throw new StoreError(stored.why)
    for (const record of records) this.take({ record, position: noPosition })
  }

  private take(entry: Entry, { isKnown }: { readonly isKnown: boolean } = { isKnown: false }): void {
    const { record } = entry
    this.entries.push(entry)
    this.fold.add(entry)
    const isSide = this.input.envelope.isSidechain === true
    const isOwn = (record.isSidechain === true) === isSide
    if (typeof record.uuid === 'string' && isOwn) this.tip = record.uuid
    const message = isKnown && !this.input.watch ? undefined : messageOf(record)
    // What was put back is no news.
    if (message && !isKnown && objectAt(record, 'attachment')?.isRestored !== true) this.book.add(message, record)
    if (isOwn) this.input.watch?.(record, message, { isLive: this.isOpen })
  }

  private hold(entries: Iterable<Entry>): void {
    this.entries = [...entries]
    this.fold = createFold()
    for (const entry of this.entries) this.fold.add(entry)
  }

  private reload(): void {
    this.hold(this.input.store.entries())
    this.isTrimmed = false
  }
}
