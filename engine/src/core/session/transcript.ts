// A transcript that was read, in its present state or before one of its entries: its view, the place for the next record, and the
// input for a compaction. Files are restored as the transcript showed them, never from disk.
import { modelFacts } from '../catalog/models.ts'
import type { CompactionJob } from '../compaction/job.ts'
import { emptyLedger, type Ledger } from '../ledger/facts.ts'
import { createLedger } from '../ledger/ledger.ts'
import { viewScale, viewSize } from '../mechanisms/measure.ts'
import { defined, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import { textOf } from '../message/message.ts'
import type { Restore } from '../ports/restore.ts'
import { StoreError } from '../ports/session-store.ts'
import { createSeenFiles, seenFileStore } from '../restore/seen-files.ts'
import { readBoundary, recordedProse } from '../transcript/format/compaction-records.ts'
import { type EditPlace, readEdit } from '../transcript/format/edits.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { messageOf, type QueuedWords, queuedWords } from '../transcript/format/messages.ts'
import { createTranscriptReader, type Format } from '../transcript/format/reader.ts'
import { lastAction, type Undoable, undoOfTorn, withoutRewound } from '../transcript/tree/changes.ts'
import { createFold, type Fold, foldEntries, type View } from '../transcript/view/fold.ts'
import { type ContextNote, readContextNote } from './context-note.ts'
import { Restoring } from './restoring.ts'

export type Transcript = {
  readonly path: string
  readonly format: Format
  /** Size of the file. */
  readonly bytes: number
  /** In file order, without half a compaction at the end. In a large file, long texts outside the view are shortened. */
  readonly entries: readonly Entry[]
  readonly view: View
  /** The view of the newest answer: without the edits written since. The same object if there are none. */
  readonly answered: View
  readonly entry: (uuid: string) => Entry | undefined
  /** For trying out further entries. */
  readonly fold: Fold
  readonly lastAction: readonly Undoable[]
  /** The place for an edit. */
  readonly place: Omit<EditPlace, 'uuid' | 'timestamp'>
  readonly sessionId: string | undefined
  /** The newest entry of the main conversation. Undefined if the file has no conversation. */
  readonly lastUuid: string | undefined
  /** Fields that clients put on every record, from the newest record. */
  readonly envelope: JsonObject
  /** The values that the session itself counted with, if Everlong wrote it. */
  readonly note: ContextNote | undefined
  /** Text that the user typed while the agent worked and that no message contains. */
  readonly queued: readonly QueuedWords[]
  /** The summary that the model wrote, if the transcript was read as of a compaction. */
  readonly recordedSummary: string | undefined
  /** Facts of the whole conversation, across all compactions, and facts from before the last one. Read on first use. */
  readonly facts: () => { readonly ledger: Ledger; readonly carried: Ledger }
  /** Restores only what the transcript shows, never files of this machine. */
  readonly restore: Restore
}

/** Entries of a transcript, before they are folded. */
export type Loaded = Pick<Transcript, 'path' | 'format' | 'bytes' | 'entries'> & {
  readonly cutoff: Cutoff
  /** The entries, with complete text for everything that these views show. The same list if nothing was shortened. */
  readonly whole: (views: readonly View[]) => readonly Entry[]
  /** Visits all entries whole, in order, for the facts. Not called if `facts` is given. */
  readonly eachWhole: (visit: (entry: Entry) => void) => void
  readonly facts?: Facts | undefined
}

export function transcriptOf(loaded: Loaded): Transcript {
  const { path, format, bytes, cutoff } = loaded
  const isPast = cutoff.isReached()
  const first = folded(loaded.entries, isPast)
  const entries = loaded.whole([first.view, first.answered])
  const views = entries === loaded.entries ? first : folded(entries, isPast)
  const last = entries.findLast(({ record }) => typeof record.uuid === 'string' && record.isSidechain !== true)?.record
  const summary = cutoff.summary()
  let known = loaded.facts
  const facts = () => {
    if (known === undefined) {
      known = createFacts()
      loaded.eachWhole(known.add)
    }
    return known
  }
  return {
    path,
    format,
    bytes,
    ...views,
    lastAction: lastAction(views.entries),
    place: placeOf(entries),
    sessionId: stringAt(last, 'sessionId'),
    lastUuid: stringAt(last, 'uuid'),
    envelope: picked(last ?? {}, envelopeKeys),
    note: readContextNote(entries),
    queued: queuedWords(entries),
    recordedSummary: summary === undefined ? undefined : recordedProse(summary),
    facts: () => facts().known(),
    restore: (request) => {
      const { view, entry } = views
      const restoring = facts().restoring(views.entries)
      const record = (uuid: string) => entry(uuid)?.record
      return restoring.restore(request, { view: () => view, record, place: () => ({ transcript: path }) })
    },
  }
}

/** Treats each record as a line of a transcript. `path` is the location of the records for texts that mention it, or empty. */
export function transcriptOfRecords(records: readonly JsonObject[], path: string, before?: EntryName): Transcript {
  const reader = createTranscriptReader()
  const cutoff = createCutoff(before)
  const entries = records
    .flatMap((record, at) => reader.read(record, { line: at + 1, offset: at, length: 1, nth: 0 }))
    .filter(({ record }) => cutoff.includes(record))
  requireReached(cutoff, 'the records')
  const eachWhole = (visit: (entry: Entry) => void) => entries.forEach(visit)
  return transcriptOf({ path, format: reader.format(), bytes: 0, entries, cutoff, whole: () => entries, eachWhole })
}

function folded(entries: readonly Entry[], isPast: boolean) {
  const whole = isPast ? entries : withoutTornCompaction(entries)
  const fold = createFold()
  for (const entry of whole) fold.add(entry)
  const view = fold.view()
  const answer = entries.findLastIndex(({ record }) => isAnswer(record))
  const isSince = (entry: Entry, at: number) => at > answer && readEdit(entry.record) !== undefined
  const known = entries.some(isSince) ? entries.filter((entry, at) => !isSince(entry, at)) : undefined
  const answered = known ? foldEntries(isPast ? known : withoutTornCompaction(known)) : view
  return { entries: whole, view, answered, entry: fold.entry, fold }
}

/** Undoes half a compaction that a crash left at the end. */
function withoutTornCompaction(entries: readonly Entry[]): readonly Entry[] {
  const undo = undoOfTorn(entries)
  return undo ? [...entries, undo] : entries
}

function isAnswer({ type, isSidechain, agentId }: JsonObject): boolean {
  // In a sub-agent's own file, its answers are the conversation.
  return type === 'assistant' && (isSidechain !== true || typeof agentId === 'string')
}

/** Fields that clients put on every record. */
const envelopeKeys = ['userType', 'entrypoint', 'cwd', 'version', 'gitBranch', 'slug'] as const

/** After the newest record of the main conversation. In a sub-agent's file, after its newest record. */
function placeOf(entries: readonly Entry[]): Transcript['place'] {
  // Nothing continues from a progress record.
  const isTip = ({ record }: Entry) => typeof record.uuid === 'string' && record.type !== 'progress'
  const main = entries.findLast((entry) => isTip(entry) && entry.record.isSidechain !== true)
  const tip = (main ?? entries.findLast(isTip))?.record ?? {}
  return {
    parentUuid: typeof tip.uuid === 'string' ? tip.uuid : null,
    sessionId: typeof tip.sessionId === 'string' ? tip.sessionId : '',
    envelope: picked(tip, ['isSidechain', 'agentId', ...envelopeKeys]),
  }
}

function picked(record: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]]])))
}

export type Facts = ReturnType<typeof createFacts>

/** Facts that code reads from the main conversation. `add` gets every entry, in file order. */
export function createFacts() {
  const ledger = createLedger()
  const seen = createSeenFiles()
  const known = new Set<unknown>()
  let carried: Ledger = emptyLedger
  let root: string | undefined
  const restoring = new Restoring({ files: seenFileStore(seen), root: () => root, entries: () => [] })
  const isMain = ({ record }: Entry) => record.isSidechain !== true
  return {
    add: (entry: Entry) => {
      const { record } = entry
      // A line that was written twice adds nothing.
      if (!isMain(entry) || known.has(record.uuid ?? entry)) return
      known.add(record.uuid ?? entry)
      if (typeof record.uuid === 'string') root = stringAt(record, 'cwd')
      if (readBoundary(record) !== undefined) carried = ledger.ledger()
      const message = messageOf(record)
      restoring.add(record, message)
      if (message) for (const book of [ledger, seen]) book.add(message, record)
    },
    known: () => ({ ledger: ledger.ledger(), carried }),
    /** For the added entries, without those that a rewind dropped. */
    restoring: (entries: readonly Entry[]): Restoring => {
      const standing = withoutRewound(entries)
      if (standing.length < entries.length) restoring.readAgain(standing.filter(isMain))
      return restoring
    },
  }
}

/** An entry by its uuid, or by its index among all entries. */
export type EntryName = string | number

export type Cutoff = {
  readonly before: EntryName | undefined
  /** Call it with every record, in file order. */
  readonly includes: (record: JsonObject) => boolean
  readonly isReached: () => boolean
  /** The summary that follows, if the cutoff is a boundary. */
  readonly summary: () => string | undefined
}

/** Throws a StoreError if the named entry does not exist. */
export function requireReached({ before, isReached }: Cutoff, where: string): void {
  if (before === undefined || isReached()) return
  const name = typeof before === 'number' ? 'number' : 'uuid'
  throw new StoreError(`No entry of ${where} has the ${name} ${before}.`, { reason: 'missing' })
}

/** Some clients write kept messages again after the summary. The compaction also had those. */
export function createCutoff(before: EntryName | undefined): Cutoff {
  let isReached = false
  let read = 0
  let isInCompaction = false
  let kept = new Set<unknown>()
  let summary: string | undefined
  const reach = (record: JsonObject): false => {
    const boundary = readBoundary(record)
    isReached = true
    isInCompaction = boundary !== undefined
    if (boundary?.kept?.type === 'listed') kept = new Set(boundary.kept.uuids)
    return false
  }
  const includes = (record: JsonObject) => {
    if (!isReached) {
      const isNamed = typeof before === 'number' ? read++ === before : before !== undefined && record.uuid === before
      return isNamed ? reach(record) : true
    }
    if (!isInCompaction) return false
    if (record.isCompactSummary === true) summary ??= textOf(objectAt(record, 'message')?.content)
    isInCompaction = readBoundary(record) === undefined
    return kept.delete(record.uuid)
  }
  return { before, includes, isReached: () => isReached, summary: () => summary }
}

export type CompactAtOptions = Pick<CompactionJob, 'partial' | 'instructions' | 'budget'>

/** The input of a compaction of this transcript. */
export function compactionJobAt(transcript: Transcript, options: CompactAtOptions = {}): CompactionJob {
  const { view, entry, queued, restore, lastUuid, envelope, note, path } = transcript
  const answered = view.messages.findLast((message) => message.model !== undefined && modelFacts(message.model))?.model
  const { overhead = 0, calibration, model = answered } = note ?? {}
  const counting = defined({ model, calibration })
  const size = viewSize(view, { ...counting, overhead })
  return {
    trigger: 'manual',
    reason: 'command line',
    view,
    recordOf: (uuid) => entry(uuid)?.record,
    carried: () => transcript.facts().carried,
    sessionId: transcript.sessionId ?? 'unknown',
    ...{ queued, restore, lastUuid, envelope },
    ...options,
    counting,
    overhead,
    size: size.tokens,
    scale: viewScale(view, { ...counting, overhead, size }),
    threshold: 0,
    transcriptPath: path === '' ? undefined : path,
  }
}
