// One conversation: the store it is written to, and the fold that makes the view. It knows records and edits, but no sizes,
// models or requests.
import { type JsonObject, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { noPosition, StoreError, type StoreResult } from '../ports/session-store.ts'
import { type Edit, editRecords, readEdit, type UndoOptions } from '../transcript/format/edits.ts'
import { type Entry, readHead } from '../transcript/format/entry.ts'
import { messageOf, type QueuedWords, queuedWords } from '../transcript/format/messages.ts'
import { isSelfContained, lastAction, type Undoable, withoutRewound } from '../transcript/tree/changes.ts'
import { createFold, type Fold, foldEntries, type View } from '../transcript/view/fold.ts'
import type { Body } from './input.ts'
import type { StoredSession } from './stored-session.ts'

/** The place for the next record. */
export type RecordPlace = {
  /** The newest entry of the chain. */
  readonly tip: string | null
  readonly sessionId: string
  /** Fields that the client adds to each record: cwd, version, gitBranch … */
  readonly envelope: JsonObject
  readonly transcript?: string | undefined
}

export type Stamp = { readonly timestamp: string; readonly sessionId: string }

export type ConversationInput = {
  readonly store: Pick<StoredSession, 'append' | 'flush'> & {
    /** Everything, oldest first: for an undo that reaches further back than memory does. Throws a StoreError. */
    readonly entries: () => Iterable<Entry> | Promise<Iterable<Entry>>
  }
  /** The path of the transcript, if it is a file. */
  readonly path?: string | undefined
  readonly sessionId: string
  readonly envelope: JsonObject
  /** The entries when it was opened, in file order. */
  readonly entries: readonly Entry[]
  /** The fold of these entries, if it was computed before. */
  readonly fold?: Fold | undefined
  /** Whether `entries` is complete. Otherwise it must include the live window. */
  readonly isWhole?: boolean | undefined
  readonly now: () => number
  readonly newId: () => string
  /** Gets every entry of this conversation that counts once, in order; `isLive` if it was added after the opening. */
  readonly watch?:
    | ((record: JsonObject, message: ViewMessage | undefined, how: { readonly isLive: boolean }) => void)
    | undefined
  /** After a rewind, or the undo of one: gets the entries of this conversation that now count, in order. */
  readonly onRewind?: (entries: readonly Entry[]) => void
}

export type Conversation = Readonly<Pick<StoredConversation, keyof StoredConversation>>

export function createConversation(input: ConversationInput): Conversation {
  return new StoredConversation(input)
}

class StoredConversation {
  private readonly input: ConversationInput
  private entries: Entry[] = []
  private fold: Fold = createFold()
  private tip: string | null = null
  private answerIds = new Set<unknown>()
  /** If not, older entries are only in the store. */
  private isWhole: boolean
  /** Number of appended records, and their number when a failure of the store was last thrown. */
  private appended = 0
  private appendedAtFailure: number | undefined

  constructor(input: ConversationInput) {
    this.input = input
    this.isWhole = input.isWhole ?? true
    this.hold(input.entries, input.fold)
    if (input.watch) for (const { record } of this.own()) input.watch(record, messageOf(record), { isLive: false })
  }

  view = (): View => this.fold.view()
  /** The entries in memory, without those that a rewind dropped. */
  standing = (): readonly Entry[] => withoutRewound(this.entries)
  /** Text that the user typed while the agent worked and that no message contains. */
  queued = (): readonly QueuedWords[] => queuedWords(this.entries)
  /** For tests. */
  entryCount = (): number => this.entries.length
  hasAnswer = (id: unknown): boolean => this.answerIds.has(id)

  /** Any entry of the view, and any that is in memory. */
  record = (uuid: string): JsonObject | undefined => this.fold.entry(uuid)?.record

  /** Waits until everything is stored. Throws a StoreError. */
  stored = async (): Promise<void> => {
    const result = await this.input.store.flush()
    if (result.type === 'store-failed') throw this.failure(result)
    this.appendedAtFailure = undefined
  }

  /** True if a failure of the store was thrown and everything not stored was appended before that. */
  isFailureReported = (): boolean => this.appendedAtFailure === this.appended

  /** Reads entries that were dropped from memory, or never read. Throws a StoreError. */
  loadOlderEntries = async (): Promise<void> => {
    if (this.isWhole) return
    this.hold(await this.input.store.entries())
    this.isWhole = true
  }

  /** The time and the session, which every record has. */
  stamp = (): Stamp => ({ timestamp: new Date(this.input.now()).toISOString(), sessionId: this.input.sessionId })

  place = (): RecordPlace => {
    const { sessionId, envelope, path } = this.input
    return { tip: this.tip, sessionId, envelope, transcript: path }
  }

  /** Appends in one write and returns the uuids. The caller may choose them. Throws a StoreError on failure. */
  append = (bodies: readonly Body[], given: readonly string[] = []): readonly string[] => {
    const { envelope, newId } = this.input
    const { timestamp, sessionId } = this.stamp()
    const uuids = bodies.map((_, at) => given[at] ?? newId())
    const frame = { isSidechain: false, ...envelope, sessionId }
    this.note(
      bodies.map((body, at) => {
        const parentUuid = uuids[at - 1] ?? this.tip
        return { parentUuid, ...frame, ...body, uuid: uuids[at], timestamp }
      }),
    )
    return uuids
  }

  /** Appends records unchanged. Without a uuid they annotate the session and have no place in the tree. */
  note = (records: readonly JsonObject[]): void => {
    if (records.length === 0) return
    const stored = this.store(records)
    if (stored.type === 'store-failed') throw this.failure(stored)
  }

  /** Turns edits into a chain of records, which are not written yet. */
  editRecords = (edits: readonly Edit[], options: UndoOptions = {}): readonly JsonObject[] => {
    const { envelope, newId } = this.input
    const place = { uuids: edits.map(() => newId()), parentUuid: this.tip, ...this.stamp(), envelope }
    return editRecords(edits, { ...place, ...options })
  }

  /** An undo and a rewind may bring back entries that are not in memory: load those first. */
  edit = (edits: readonly Edit[], options: UndoOptions = {}): void => {
    const changesBranch = edits.some(({ type }) => type === 'undo' || type === 'rewind')
    this.note(this.editRecords(edits, options))
    if (changesBranch && this.entries.some(({ record }) => readEdit(record)?.type === 'rewind'))
      this.input.onRewind?.(this.own())
  }

  /** Appends a compaction's records, all or none. */
  commit = (records: readonly JsonObject[]): StoreResult => {
    const before = this.view()
    const stored = this.store(records)
    if (stored.type === 'store-failed') return stored
    const left = retained(this.entries, before)
    if (left.length < this.entries.length) {
      this.isWhole = false
      this.hold(left)
    }
    return stored
  }

  tryOut = (records: readonly JsonObject[]): View =>
    foldEntries([...this.entries, ...records.map((record) => ({ record, position: noPosition }))])

  /** The changes of the newest action in force, oldest first. */
  lastAction = (): readonly Undoable[] => lastAction(this.entries)

  private store(records: readonly JsonObject[]): StoreResult {
    const stored = this.input.store.append(records)
    if (stored.type === 'store-failed') return stored
    this.appended += records.length
    for (const record of records) {
      const entry = { record, position: noPosition }
      this.keep(entry)
      this.fold.add(entry)
      if (this.isOwn(record)) this.input.watch?.(record, messageOf(record), { isLive: true })
    }
    return stored
  }

  private failure({ why, reason }: Extract<StoreResult, { readonly type: 'store-failed' }>): StoreError {
    this.appendedAtFailure = this.appended
    return new StoreError(why, { reason })
  }

  private keep(entry: Entry): void {
    const { type, message, uuid } = entry.record
    this.entries.push(entry)
    if (type === 'assistant') this.answerIds.add(stringAt(message, 'id'))
    if (typeof uuid === 'string' && this.isOwn(entry.record)) this.tip = uuid
  }

  private isOwn({ isSidechain }: JsonObject): boolean {
    return (isSidechain === true) === (this.input.envelope.isSidechain === true)
  }

  private own(): readonly Entry[] {
    return this.standing().filter(({ record }) => this.isOwn(record))
  }

  private hold(entries: Iterable<Entry>, fold?: Fold): void {
    this.entries = []
    this.fold = fold ?? createFold()
    this.answerIds = new Set()
    for (const entry of entries) {
      this.keep(entry)
      if (!fold) this.fold.add(entry)
    }
  }
}

/**
 * The entries that stay in memory after a compaction: those of the view, pins in force, and everything since the boundary
 * before the newest one. `view` is the view before the newest boundary.
 */
function retained(entries: readonly Entry[], view: View): readonly Entry[] {
  const boundaries = entries.flatMap((entry, at) => (readHead(entry).boundary ? [at] : []))
  const from = boundaries.at(-2)
  if (from === undefined) return entries
  // Only edits in force: one that was undone or rewound would be in force again without the record that reversed it.
  const pins = view.edits.filter(({ edit }) => edit.type === 'pin' || edit.type === 'unpin').map(({ uuid }) => uuid)
  const wanted = new Set<unknown>([...pins, ...view.sources.flatMap(({ uuids, edits }) => [...uuids, ...edits])])
  const left = entries.filter(({ record }, at) => at >= from || wanted.has(record.uuid))
  return isSelfContained(left) ? left : entries
}
