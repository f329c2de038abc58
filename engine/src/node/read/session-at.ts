// A session as it was at one of its entries: the view, the facts, the files as last seen, and what a recorded compaction
// wrote there. Reads the transcript and nothing else of this machine.
import { emptyLedger, type Ledger } from '../../core/ledger/facts.ts'
import { createLedger } from '../../core/ledger/ledger.ts'
import { textOf } from '../../core/message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import type { ViewMessage } from '../../core/message/message.ts'
import type { Restore } from '../../core/ports/restore.ts'
import { restoreContext } from '../../core/restore/restore.ts'
import { createSeenFiles, seenFileStore } from '../../core/restore/seen-files.ts'
import { createStateBook } from '../../core/restore/state-book.ts'
import { touchedFiles } from '../../core/restore/touched.ts'
import { type Boundary, readBoundary } from '../../core/transcript/format/boundary.ts'
import { undoOfTorn } from '../../core/transcript/format/compaction-records.ts'
import { readEdit } from '../../core/transcript/format/edits.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import type { Format } from '../../core/transcript/format/foreign/reader.ts'
import { messageOf } from '../../core/transcript/format/messages.ts'
import { type QueuedWords, queuedWords } from '../../core/transcript/format/queued-words.ts'
import { createFold, type Fold } from '../../core/transcript/view/fold.ts'
import { forEachEntry } from './entries.ts'
import type { LineOptions } from './lines.ts'
import { recordedProse } from './recorded-prose.ts'

export type SessionAt = {
  readonly type: 'session'
  readonly path: string
  readonly format: Format
  readonly fold: Fold
  /** Facts of the whole conversation so far, over all its compactions. */
  readonly ledger: Ledger
  /** Facts from before the view: of everything up to the last compaction. */
  readonly carried: Ledger
  /** Words that the user typed while the agent worked and that are in no message. */
  readonly queued: readonly QueuedWords[]
  /** Puts context back from what the transcript showed, never from this machine's disk. */
  readonly restore: Restore
  readonly sessionId: string
  readonly lastUuid: string | undefined
  /** What the client puts on each record. */
  readonly envelope: JsonObject
  /** What the model of the compaction that was named wrote as its summary. */
  readonly recordedSummary: string | undefined
}

export type NoSessionAt = { readonly type: 'not-found'; readonly uuid: string }

export type SessionAtOptions = LineOptions & {
  /** Only what stands before this entry; for a boundary, what its compaction had. */
  readonly before?: string | undefined
}

export function openSessionAt(path: string, options: SessionAtOptions = {}): SessionAt | NoSessionAt {
  const short = readUpTo(path, options, 'live')
  // An undo, or messages that were kept again and again, can reach further back than what was remembered.
  const cut = short.isWhole() ? short : readUpTo(path, options, 'all')
  if (options.before !== undefined && !cut.isReached) return { type: 'not-found', uuid: options.before }
  return { type: 'session', path, ...gathered(cut, path) }
}

function readUpTo(path: string, { before, ...lines }: SessionAtOptions, keeps: Keeps): Cut {
  const cut = new Cut(before, keeps)
  cut.format = forEachEntry(path, (entry) => cut.add(entry), lines).format
  return cut
}

/** Which entries are held: those that the view can be made of, or every one. Facts are read off all of them. */
type Keeps = 'live' | 'all'

/** Takes entries up to the one that is named; of what follows a boundary, what that had kept and what it wrote. */
class Cut {
  entries: Entry[] = []
  isReached = false
  summary: string | undefined
  format: Format = 'claude-code'
  readonly facts = createLedger()
  /** The facts as they were at the last compaction. */
  carried: Ledger = emptyLedger
  readonly seen = createSeenFiles()
  readonly state = createStateBook()
  last: JsonObject | undefined
  /** Where the boundaries stand among the entries that are held. */
  private marks: number[] = []
  private readonly known = new Set<unknown>()
  private boundary: Boundary | undefined
  private kept: ReadonlySet<string> = new Set()
  private readonly before: string | undefined
  private readonly keeps: Keeps

  constructor(before: string | undefined, keeps: Keeps) {
    this.before = before
    this.keeps = keeps
  }

  add(entry: Entry): void {
    const { record } = entry
    if (!this.isReached && this.before !== undefined && record.uuid === this.before) this.reach(record)
    else if (!this.isReached) this.take(entry)
    else if (this.boundary) this.addFollowing(entry)
  }

  /** Whatever the entries that are held refer to is held as well. */
  isWhole(): boolean {
    if (this.keeps === 'all') return true
    const held = new Set(this.entries.map(({ record }) => record.uuid))
    return this.entries.every(({ record }) => referredBy(record).every((uuid) => held.has(uuid)))
  }

  private take(entry: Entry): void {
    const { record } = entry
    const isMain = record.isSidechain !== true
    this.entries.push(entry)
    const isBoundary = isMain && readBoundary(record) !== undefined
    if (isBoundary) this.carried = this.facts.ledger()
    if (isBoundary && this.keeps === 'live') this.forget()
    // A line that was written twice says nothing new.
    if (!isMain || this.known.has(record.uuid ?? entry)) return
    if (record.uuid !== undefined) this.known.add(record.uuid)
    if (typeof record.uuid === 'string') this.last = record
    const message = messageOf(record)
    if (!message) return
    for (const book of [this.facts, this.seen, this.state]) book.add(message, record)
  }

  /** The epoch before the newest boundary stays: what a compaction keeps lies there. */
  private forget(): void {
    this.marks.push(this.entries.length - 1)
    const previous = this.marks.at(-2) ?? 0
    if (this.marks.length < 3) return
    this.entries = this.entries.slice(previous)
    this.marks = [0, this.entries.length - 1]
  }

  private reach(record: JsonObject): void {
    this.isReached = true
    this.boundary = readBoundary(record)
    const kept = this.boundary?.kept
    if (kept?.type === 'listed') this.kept = new Set(kept.uuids)
  }

  /** Some clients write kept messages again behind the summary: the compaction had them all the same. */
  private addFollowing(entry: Entry): void {
    const { record } = entry
    if (record.isCompactSummary === true && this.summary === undefined) {
      this.summary = textOf(objectAt(record, 'message')?.content)
    }
    if (typeof record.uuid === 'string' && this.kept.has(record.uuid)) this.take(entry)
    if (readBoundary(record) !== undefined) this.boundary = undefined
  }
}

/** Entries that a boundary keeps, or that an undo or a rewind goes back to. */
function referredBy(record: JsonObject): readonly string[] {
  const edit = readEdit(record)
  if (edit?.type === 'undo') return [edit.uuid]
  if (edit?.type === 'rewind') return [edit.to]
  const kept = readBoundary(record)?.kept
  if (kept?.type === 'listed') return kept.uuids
  return kept?.type === 'segment' ? [kept.head, kept.tail] : []
}

function gathered(cut: Cut, path: string): Omit<SessionAt, 'type' | 'path'> {
  const { entries, summary, facts, seen, state, last, format, isReached } = cut
  const fold = createFold()
  for (const entry of entries) fold.add(entry)
  const undo = isReached ? undefined : undoOfTorn(entries)
  if (undo) fold.add(undo)
  const ledger = facts.ledger()
  const pieces = fold.view().sources.flatMap((source) => source.pieces)
  const recordOf = (uuid: string) => fold.entry(uuid)?.record
  return {
    format,
    fold,
    ledger,
    carried: cut.carried,
    queued: queuedWords(entries),
    restore: async ({ kept, budget, countTokens, without }) =>
      restoreContext(
        {
          files: seenFileStore(seen),
          countTokens,
          touched: touchedFiles(pieces, { root: stringAt(last, 'cwd'), recordOf }),
          kept,
          root: stringAt(last, 'cwd'),
          recordOf,
          state: { ...state.state(ledger.todos), pinned: pinnedIn(fold, kept) },
          transcriptPath: path,
        },
        { budget, without },
      ),
    sessionId: stringAt(last, 'sessionId') ?? 'unknown',
    lastUuid: stringAt(last, 'uuid'),
    envelope: envelopeOf(last),
    recordedSummary: summary === undefined ? undefined : recordedProse(summary),
  }
}

/** Every record up to there, in the order of the file: for a copy that something is to be appended to. */
export function forEachRecordAt(path: string, options: SessionAtOptions, visit: (record: JsonObject) => void): void {
  const { before, ...lines } = options
  let isReached = false
  let kept = new Set<string>()
  forEachEntry(
    path,
    ({ record }) => {
      if (!isReached && before !== undefined && record.uuid === before) {
        isReached = true
        const named = readBoundary(record)?.kept
        if (named?.type === 'listed') kept = new Set(named.uuids)
      } else if (!isReached || (typeof record.uuid === 'string' && kept.delete(record.uuid))) visit(record)
    },
    lines,
  )
}

/** What the person pinned and the compaction takes out of the view. */
function pinnedIn(fold: Fold, kept: readonly ViewMessage[]) {
  const stays = new Set(kept.map(({ uuid }) => uuid))
  return fold.view().pins.flatMap((uuid) => {
    const entry = stays.has(uuid) ? undefined : fold.entry(uuid)
    const message = entry && messageOf(entry.record)
    return message ? [{ uuid, text: textOf(message.content) }] : []
  })
}

const enveloped = ['userType', 'entrypoint', 'cwd', 'version', 'gitBranch', 'slug'] as const

function envelopeOf(record: JsonObject | undefined): JsonObject {
  const fields = enveloped.flatMap((name) => (record?.[name] === undefined ? [] : [[name, record[name]] as const]))
  return Object.fromEntries(fields)
}
