// A session as it was before one of its entries: its view, its facts, the files as last seen, and the summary that a
// recorded compaction wrote there. Reads nothing on this machine but the transcript.
import { modelFacts } from '../../core/catalog/models.ts'
import type { CompactionJob } from '../../core/compaction/job.ts'
import { emptyLedger, type Ledger } from '../../core/ledger/facts.ts'
import { createLedger } from '../../core/ledger/ledger.ts'
import { viewScale, viewSize } from '../../core/mechanisms/size.ts'
import { textOf } from '../../core/message/block.ts'
import { defined, type JsonObject, stringAt } from '../../core/message/json.ts'
import type { ViewMessage } from '../../core/message/message.ts'
import type { Restore } from '../../core/ports/restore.ts'
import { restoreContext } from '../../core/restore/restore.ts'
import { createSeenFiles, seenFileStore } from '../../core/restore/seen-files.ts'
import { createStateBook } from '../../core/restore/state-book.ts'
import { touchedFiles } from '../../core/restore/touched.ts'
import { type ContextNote, readContextNote } from '../../core/session/context-note.ts'
import { readBoundary } from '../../core/transcript/format/boundary.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { createRecordReader, createTranscriptReader, type Format } from '../../core/transcript/format/foreign/reader.ts'
import { messageOf } from '../../core/transcript/format/messages.ts'
import { type QueuedWords, queuedWords } from '../../core/transcript/format/queued-words.ts'
import { createFold, type Fold } from '../../core/transcript/view/fold.ts'
import { forEachEntry } from './entries.ts'
import { forEachLine, type Line } from './lines.ts'
import {
  type Cutoff,
  createCutoff,
  envelopeKeys,
  type Loaded,
  type LoadOptions,
  loadEntries,
  picked,
  wholeEntries,
  withoutTornCompaction,
} from './view-file.ts'

export type SessionAt = {
  readonly type: 'session'
  readonly path: string
  readonly format: Format
  readonly fold: Fold
  /** Facts of the whole conversation so far, across all compactions. */
  readonly ledger: Ledger
  /** Facts from before the last compaction. */
  readonly carried: Ledger
  /** What the user typed while the agent worked and no message contains. */
  readonly queued: readonly QueuedWords[]
  /** Restores only what the transcript shows, never files of this machine. */
  readonly restore: Restore
  readonly sessionId: string
  readonly lastUuid: string | undefined
  readonly envelope: JsonObject
  /** What the session itself counted with, where an engine of ours wrote it. */
  readonly note: ContextNote | undefined
  /** The summary that the model wrote, if `before` names a compaction. */
  readonly recordedSummary: string | undefined
}

export type NoSessionAt = { readonly type: 'not-found'; readonly uuid: string }

export type SessionAtOptions = Omit<LoadOptions, 'onEntry'>

export function openSessionAt(path: string, options: SessionAtOptions = {}): SessionAt | NoSessionAt {
  const facts = createFacts()
  const loaded = loadEntries(path, { ...options, onEntry: facts.add })
  if (options.before !== undefined && !loaded.cutoff.isReached()) return { type: 'not-found', uuid: options.before }
  return sessionFrom(loaded, facts)
}

/** The same for records that somebody holds in memory; `path` is where they are stored, for the texts that name it. */
export function sessionOfRecords(records: readonly JsonObject[], path: string): SessionAt {
  const facts = createFacts()
  const { entries, format } = entriesOfRecords(records)
  for (const entry of entries) facts.add(entry)
  const cutoff = createCutoff(undefined)
  return sessionFrom({ path, entries, shortened: 0, format, bytes: 0, cutoff }, facts)
}

/** As if each record were a line of a transcript. */
export function entriesOfRecords(records: readonly JsonObject[]): Pick<Loaded, 'entries' | 'format'> {
  const reader = createTranscriptReader()
  const entries = records.flatMap((record, at) => reader.read(record, { line: at + 1, offset: at, length: 1, nth: 0 }))
  return { entries, format: reader.format() }
}

function sessionFrom(loaded: Loaded, facts: Facts): SessionAt {
  const { path, format, cutoff } = loaded
  const fold = foldedWhole(loaded)
  const last = facts.last()
  const ledger = facts.ledger()
  const summary = cutoff.summary()
  const pieces = fold.view().sources.flatMap((source) => source.pieces)
  const recordOf = (uuid: string) => fold.entry(uuid)?.record
  const root = stringAt(last, 'cwd')
  return {
    type: 'session',
    path,
    format,
    fold,
    ledger,
    carried: facts.carried(),
    queued: queuedWords(loaded.entries),
    restore: async ({ kept, budget, countTokens, next }) =>
      restoreContext(
        {
          files: seenFileStore(facts.seen),
          countTokens,
          touched: touchedFiles(pieces, { root, recordOf }),
          kept,
          next,
          root,
          recordOf,
          state: { ...facts.state.state(), pinned: pinnedIn(fold, kept) },
          transcriptPath: path,
        },
        { budget },
      ),
    sessionId: stringAt(last, 'sessionId') ?? 'unknown',
    lastUuid: stringAt(last, 'uuid'),
    envelope: picked(last ?? {}, envelopeKeys),
    note: readContextNote(loaded.entries),
    recordedSummary: summary === undefined ? undefined : recordedProse(summary),
  }
}

function foldedWhole(loaded: Loaded): Fold {
  const folded = (entries: readonly Entry[]) => {
    const fold = createFold()
    for (const entry of loaded.cutoff.isReached() ? entries : withoutTornCompaction(entries)) fold.add(entry)
    return fold
  }
  const first = folded(loaded.entries)
  const whole = wholeEntries(loaded, [first.view()])
  return whole === loaded.entries ? first : folded(whole)
}

type Facts = ReturnType<typeof createFacts>

function createFacts() {
  const ledger = createLedger()
  const seen = createSeenFiles()
  const state = createStateBook()
  const known = new Set<unknown>()
  let carried: Ledger = emptyLedger
  let last: JsonObject | undefined
  const add = (entry: Entry) => {
    const { record } = entry
    if (record.isSidechain === true) return
    if (readBoundary(record) !== undefined) carried = ledger.ledger()
    // The same line written twice adds nothing.
    if (known.has(record.uuid ?? entry)) return
    if (record.uuid !== undefined) known.add(record.uuid)
    if (typeof record.uuid === 'string') last = record
    const message = messageOf(record)
    if (message) for (const book of [ledger, seen, state]) book.add(message, record)
  }
  return { add, seen, state, ledger: () => ledger.ledger(), carried: () => carried, last: () => last }
}

/** Every record up to there, in file order: for a copy to append to. */
export function forEachRecordAt(
  { path, format }: Pick<SessionAt, 'path' | 'format'>,
  options: SessionAtOptions,
  visit: (record: JsonObject) => void,
): void {
  const cutoff = createCutoff(options.before)
  // Of another agent's records only the converted ones belong into a session in our format.
  const isOurs = (record: JsonObject) => format === 'claude-code' || typeof record.uuid === 'string'
  if (format === 'pi') forEachLine(path, (line) => recordsBefore(line, cutoff).forEach(visit))
  else forEachEntry(path, ({ record }) => cutoff.includes(record) && isOurs(record) && visit(record))
}

/** pi goes on from a copy only if it is in its own format. */
function recordsBefore({ buffer, start, end, ...line }: Line, { includes }: Cutoff): readonly JsonObject[] {
  const { records } = decodeLine(buffer.toString('utf8', start, end))
  const read = createRecordReader('pi')
  const position = { line: line.number, offset: line.offset, length: end - start, nth: 0 }
  return records.filter((record) =>
    read(record, position)
      .map((entry) => includes(entry.record))
      .at(-1),
  )
}

/** Pinned messages that the compaction removes from the view. */
function pinnedIn(fold: Fold, kept: readonly ViewMessage[]) {
  const stays = new Set(kept.map(({ uuid }) => uuid))
  return fold.view().pins.flatMap((uuid) => {
    const entry = stays.has(uuid) ? undefined : fold.entry(uuid)
    const message = entry && messageOf(entry.record)
    return message ? [{ uuid, text: textOf(message.content) }] : []
  })
}

export type CompactAtOptions = Pick<CompactionJob, 'partial' | 'instructions' | 'budget'>

export function compactionJobAt(session: SessionAt, options: CompactAtOptions = {}): CompactionJob {
  const { carried, queued, restore, sessionId, lastUuid, envelope, note } = session
  const view = session.fold.view()
  const answered = view.messages.findLast((message) => message.model !== undefined && modelFacts(message.model))?.model
  const { overhead = 0, calibration, model = answered } = note ?? {}
  const counting = defined({ model, calibration })
  const size = viewSize(view, { ...counting, overhead })
  return {
    trigger: 'manual',
    reason: 'command line',
    view,
    recordOf: (uuid) => session.fold.entry(uuid)?.record,
    ...{ carried, queued, restore, sessionId, lastUuid, envelope },
    ...options,
    counting,
    overhead,
    size: size.tokens,
    scale: viewScale(view, { ...counting, overhead, size }),
    threshold: 0,
    transcriptPath: session.path,
  }
}

const opening = /^This session is being continued/
/** What Codex puts before a summary. */
const introduction = /^Another language model started to solve this problem[^\n]*\n/
const heading = /^Summary:[ \t]*$/m
const firstSection = /^[ \t]*(?:#+[ \t]*|\*\*)?1\.[ \t]/m
const closing =
  /\n(?:If you need specific details from before compaction|Please continue the conversation|Continue the conversation from where)/

/** What the model wrote of a recorded summary: without its scratchpad and the client's opening and closing words. */
export function recordedProse(recorded: string): string {
  const whole = withoutScratchpads(recorded).replace(introduction, '')
  const end = whole.search(closing)
  const text = end < 0 ? whole : whole.slice(0, end)
  const [found] = heading.exec(text) ?? []
  if (found !== undefined) return text.slice(text.search(heading) + found.length).trim()
  return (opening.test(text) ? text.slice(Math.max(0, text.search(firstSection))) : text).trim()
}

function withoutScratchpads(text: string): string {
  const kept: string[] = []
  let from = 0
  for (;;) {
    const start = text.indexOf('<analysis>', from)
    const end = start < 0 ? -1 : text.indexOf('</analysis>', start)
    if (end < 0) return `${kept.join('')}${text.slice(from)}`
    kept.push(text.slice(from, start))
    from = end + '</analysis>'.length
  }
}
