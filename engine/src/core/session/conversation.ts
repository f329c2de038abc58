// One conversation: the store it is written to, the fold that makes the view, the ledger of its facts. It knows records
// and edits, but no sizes, models or requests.

import { emptyLedger, type Ledger } from '../ledger/facts.ts'
import { fromJson } from '../ledger/json.ts'
import { createLedger, type LedgerBook } from '../ledger/ledger.ts'
import type { RecordPlace } from '../mechanisms/mechanism.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { noPosition, type Store, StoreError, type StoreResult } from '../ports/store.ts'
import { readCompaction } from '../transcript/format/compaction-records.ts'
import { type Edit, editRecords, readEdit } from '../transcript/format/edits.ts'
import { type Entry, headOf } from '../transcript/format/entry.ts'
import { messageOf } from '../transcript/format/messages.ts'
import { type QueuedWords, queuedWords } from '../transcript/format/queued-words.ts'
import { isSelfContained } from '../transcript/tree/self-contained.ts'
import { createFold, type Fold, foldEntries, type View } from '../transcript/view/fold.ts'
import { lastAction, type Undoable, withoutRewound } from '../transcript/view/last-action.ts'
import type { Body } from './input.ts'

export type ConversationInput = {
  readonly store: Store
  readonly sessionId: string
  readonly envelope: JsonObject
  /** What was there when it was opened, in file order. */
  readonly entries: readonly Entry[]
  /** Whether that is everything. If not, it must include the live window. */
  readonly isWhole?: boolean | undefined
  readonly now: () => number
  readonly newId: () => string
  /** Gets every entry of this conversation once, in order; `isLive` if it was added after the opening. */
  readonly watch?: (record: JsonObject, message: ViewMessage | undefined, how: { readonly isLive: boolean }) => void
  /** After a rewind, or the undo of one: gets the entries of this conversation that now count, in order. */
  readonly onRewind?: (entries: readonly Entry[]) => void
}

export type Conversation = {
  readonly view: () => View
  readonly ledger: () => Ledger
  /** What the user typed while the agent worked, as far as no message holds it. */
  readonly queued: () => readonly QueuedWords[]
  readonly place: () => RecordPlace
  /** Whether an answer in memory has this message id. */
  readonly hasAnswer: (id: unknown) => boolean
  /** Any entry of the session, in the view or not. */
  readonly record: (uuid: string) => JsonObject | undefined
  /** Appends in one write and returns the uuids, which may be given. Throws a StoreError when that fails. */
  readonly append: (bodies: readonly Body[], uuids?: readonly string[]) => readonly string[]
  /** Appends records that annotate the session and have no place in the tree. */
  readonly note: (records: readonly JsonObject[]) => void
  readonly edit: (edits: readonly Edit[]) => readonly string[]
  /** Appends a compaction's records, all or none. */
  readonly commit: (records: readonly JsonObject[]) => StoreResult
  /** The view as it would be with these records. */
  readonly tryOut: (records: readonly JsonObject[]) => View
  /** These edits as a chain of records, not written yet. */
  readonly editRecords: (edits: readonly Edit[]) => readonly JsonObject[]
  /** The changes of the newest action in force, oldest first. */
  readonly lastAction: () => readonly Undoable[]
  /** Waits until everything is stored; undefined where a write is never pending. Throws a StoreError. */
  readonly stored: (() => Promise<void>) | undefined
  /** Reads older entries into memory; undefined where they are read when they are needed. Throws a StoreError. */
  readonly loadOlderEntries: (() => Promise<void>) | undefined
  /** How many entries are in memory, for tests. */
  readonly entryCount: () => number
}

export function createConversation(input: ConversationInput): Conversation {
  return new StoredConversation(input)
}

class StoredConversation implements Conversation {
  readonly stored: Conversation['stored']
  readonly loadOlderEntries: Conversation['loadOlderEntries']
  private readonly input: ConversationInput
  private book: LedgerBook = createLedger()
  private hasRewound = false
  private entries: Entry[] = []
  private fold: Fold = createFold()
  private tip: string | null = null
  private answerIds = new Set<unknown>()
  /** If not, older entries are only in the store. */
  private isWhole: boolean
  private isOpen = false

  constructor(input: ConversationInput) {
    this.input = input
    this.isWhole = input.isWhole ?? true
    const { flush, load } = input.store
    this.stored = flush && (() => flushed(flush))
    this.loadOlderEntries = load && (() => this.loadFrom(load))
    const known = this.openBook(input.entries)
    for (const [at, entry] of input.entries.entries()) this.take(entry, { isKnown: at <= known })
    if (this.hasRewound) this.readAgain()
    this.isOpen = true
  }

  view = (): View => this.fold.view()
  ledger = (): Ledger => this.book.ledger()
  queued = (): readonly QueuedWords[] => queuedWords(this.entries)
  record = (uuid: string): JsonObject | undefined => {
    if (!this.fold.entry(uuid)) this.loadOlder()
    return this.fold.entry(uuid)?.record
  }

  entryCount = (): number => this.entries.length

  hasAnswer = (id: unknown): boolean => this.answerIds.has(id)

  place = (): RecordPlace => {
    const { sessionId, envelope, store } = this.input
    return { tip: this.tip, sessionId, envelope, transcript: store.path }
  }

  append = (bodies: readonly Body[], uuids: readonly string[] = []): readonly string[] => {
    const records = this.chained(bodies, uuids)
    this.write(records)
    return records.map(({ uuid }) => String(uuid))
  }

  note = (records: readonly JsonObject[]): void => this.write(records)

  editRecords = (edits: readonly Edit[]): readonly JsonObject[] => {
    const { sessionId, envelope, now, newId } = this.input
    const timestamp = new Date(now()).toISOString()
    return editRecords(edits, { uuids: edits.map(() => newId()), parentUuid: this.tip, timestamp, sessionId, envelope })
  }

  edit = (edits: readonly Edit[]): readonly string[] => {
    // Both may bring back entries that are not in memory.
    if (edits.some(changesBranch)) this.loadOlder()
    const records = this.editRecords(edits)
    this.write(records)
    if (this.hasRewound && edits.some(changesBranch)) this.readAgain()
    return records.map(({ uuid }) => String(uuid))
  }

  commit = (records: readonly JsonObject[]): StoreResult => {
    const before = this.view()
    const stored = this.input.store.append(records)
    if (stored.type === 'store-failed') return stored
    for (const record of records) this.take({ record, position: noPosition })
    const left = retained(this.entries, before)
    if (left.length < this.entries.length) {
      this.isWhole = false
      this.hold(left)
    }
    return stored
  }

  tryOut = (records: readonly JsonObject[]): View =>
    foldEntries([...this.entries, ...records.map((record) => ({ record, position: noPosition }))])

  lastAction = (): readonly Undoable[] => {
    if (lastAction(this.entries).length === 0) this.loadOlder()
    return lastAction(this.entries)
  }

  /** Each record is a child of the one before it. */
  private chained(bodies: readonly Body[], uuids: readonly string[]): readonly JsonObject[] {
    const { sessionId, envelope, now, newId } = this.input
    const timestamp = new Date(now()).toISOString()
    let parentUuid = this.tip
    return bodies.map((body, at) => {
      const uuid = uuids[at] ?? newId()
      const record = stamped(body, { uuid, parentUuid, timestamp, sessionId, envelope })
      parentUuid = uuid
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
    const isOwn = this.isOwn(record)
    if (readEdit(record)?.type === 'rewind') this.hasRewound = true
    if (typeof record.uuid === 'string' && isOwn) this.tip = record.uuid
    if (record.type === 'assistant') this.answerIds.add(stringAt(record.message, 'id'))
    const message = isKnown && !this.input.watch ? undefined : messageOf(record)
    if (message && !isKnown) this.addFacts(message, record)
    if (isOwn) this.input.watch?.(record, message, { isLive: this.isOpen })
  }

  private isOwn({ isSidechain }: JsonObject): boolean {
    return (isSidechain === true) === (this.input.envelope.isSidechain === true)
  }

  private addFacts(message: ViewMessage, record: JsonObject): void {
    // What was restored is not new.
    if (objectAt(record, 'attachment')?.isRestored !== true) this.book.add(message, record)
  }

  /** Starts the ledger afresh. Returns the entry up to which it is complete: our boundaries carry the facts before them. */
  private openBook(entries: readonly Entry[]): number {
    const known = entries.findLastIndex(({ record }) => readCompaction(record).ledger !== undefined)
    const carried = readCompaction(entries[known]?.record).ledger
    this.book = createLedger(carried === undefined ? emptyLedger : fromJson(carried))
    return known
  }

  /** Facts from entries that a rewind dropped no longer hold. */
  private readAgain(): void {
    const standing = withoutRewound(this.entries)
    const known = this.openBook(standing)
    for (const { record } of standing.slice(known + 1)) {
      const message = messageOf(record)
      if (message) this.addFacts(message, record)
    }
    this.input.onRewind?.(standing.filter(({ record }) => this.isOwn(record)))
  }

  private hold(entries: Iterable<Entry>): void {
    this.entries = [...entries]
    this.fold = createFold()
    this.answerIds = new Set()
    for (const entry of this.entries) {
      this.fold.add(entry)
      if (entry.record.type === 'assistant') this.answerIds.add(stringAt(entry.record.message, 'id'))
    }
  }

  /** Reads entries that were dropped from memory, or never read. */
  private loadOlder(): void {
    const { store } = this.input
    if (this.isWhole || store.load) return
    this.hold(store.entries())
    this.isWhole = true
  }

  private async loadFrom(load: () => Promise<readonly Entry[]>): Promise<void> {
    if (this.isWhole) return
    this.hold(await load())
    this.isWhole = true
  }
}

async function flushed(flush: () => Promise<StoreResult>): Promise<void> {
  const result = await flush()
  if (result.type === 'store-failed') throw new StoreError(result.why)
}

/** Edits after which the view may show another part of the transcript. */
function changesBranch({ type }: Edit): boolean {
  return type === 'undo' || type === 'rewind'
}

function stamped(body: Body, { uuid, parentUuid, timestamp, sessionId, envelope }: Stamp): JsonObject {
  return { parentUuid, isSidechain: false, ...envelope, sessionId, ...body, uuid, timestamp }
}

type Stamp = {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly sessionId: string
  readonly envelope: JsonObject
}

/**
 * The entries that stay in memory after a compaction: those of the view, and everything since the boundary before the
 * newest one. `view` is the view before the newest boundary.
 */
function retained(entries: readonly Entry[], view: View): readonly Entry[] {
  const boundaries = entries.flatMap((entry, at) => (headOf(entry).boundary ? [at] : []))
  const from = boundaries.at(-2)
  if (from === undefined) return entries
  const wanted = new Set<string>(view.sources.flatMap(({ uuids, edits }) => [...uuids, ...edits]))
  const left = entries.filter(({ record }, at) => at >= from || wanted.has(String(record.uuid)) || isPin(record))
  return isSelfContained(left) ? left : entries
}

function isPin(record: Entry['record']): boolean {
  const type = readEdit(record)?.type
  return type === 'pin' || type === 'unpin'
}
