// A session as it was at one of its entries: the view, the facts, the files as last seen, and what a recorded compaction
// wrote there. Reads the transcript and nothing else of this machine.
import type { Ledger } from '../core/ledger/facts.ts'
import { createLedger } from '../core/ledger/ledger.ts'
import { textOf } from '../core/message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../core/message/json.ts'
import type { ViewMessage } from '../core/message/message.ts'
import type { Restore } from '../core/ports/restore.ts'
import { restoreContext } from '../core/restore/restore.ts'
import { createSeenFiles, seenFileStore } from '../core/restore/seen-files.ts'
import { createStateBook } from '../core/restore/state-book.ts'
import { touchedFiles } from '../core/restore/touched.ts'
import { type Boundary, readBoundary } from '../core/transcript/boundary.ts'
import type { Entry } from '../core/transcript/entry.ts'
import { createFold, type Fold } from '../core/transcript/fold.ts'
import type { Format } from '../core/transcript/formats/reader.ts'
import { messageOf } from '../core/transcript/messages.ts'
import { forEachEntry } from './entries.ts'
import type { LineOptions } from './lines.ts'

export type SessionAt = {
  readonly type: 'session'
  readonly path: string
  readonly format: Format
  /** Everything up to that entry, in the order of the file. */
  readonly entries: readonly Entry[]
  readonly fold: Fold
  /** Facts of the whole conversation so far, over all its compactions. */
  readonly ledger: Ledger
  /** Puts context back from what the transcript showed, never from this machine's disk. */
  readonly restore: Restore
  readonly sessionId: string
  readonly lastUuid: string | undefined
  /** What the client puts on each record. */
  readonly envelope: JsonObject
  /** What the compaction that was named wrote as its summary. */
  readonly recordedSummary: string | undefined
}

export type NoSessionAt = { readonly type: 'not-found'; readonly uuid: string }

export type SessionAtOptions = LineOptions & {
  /** Only what stands before this entry; for a boundary, what its compaction had. */
  readonly before?: string | undefined
}

export function openSessionAt(path: string, options: SessionAtOptions = {}): SessionAt | NoSessionAt {
  const { before, ...lines } = options
  const cut = new Cut(before)
  const { format } = forEachEntry(path, (entry) => cut.add(entry), lines)
  if (before !== undefined && !cut.isReached) return { type: 'not-found', uuid: before }
  return { type: 'session', path, format, ...gathered(cut, path) }
}

/** Takes entries up to the one that is named; of what follows a boundary, what that had kept and what it wrote. */
class Cut {
  readonly entries: Entry[] = []
  isReached = false
  summary: string | undefined
  private boundary: Boundary | undefined
  private kept: ReadonlySet<string> = new Set()
  private readonly before: string | undefined

  constructor(before: string | undefined) {
    this.before = before
  }

  add(entry: Entry): void {
    const { record } = entry
    if (!this.isReached && this.before !== undefined && record.uuid === this.before) this.reach(record)
    else if (!this.isReached) this.entries.push(entry)
    else if (this.boundary) this.addFollowing(entry)
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
    if (typeof record.uuid === 'string' && this.kept.has(record.uuid)) this.entries.push(entry)
    if (readBoundary(record) !== undefined) this.boundary = undefined
  }
}

function gathered(cut: Cut, path: string): Omit<SessionAt, 'type' | 'path' | 'format'> {
  const { entries, summary } = cut
  const fold = createFold()
  const facts = createLedger()
  const seen = createSeenFiles()
  const state = createStateBook()
  const known = new Set<unknown>()
  for (const entry of entries) {
    const { record } = entry
    fold.add(entry)
    // A line that was written twice says nothing new.
    if (record.isSidechain === true || known.has(record.uuid ?? entry)) continue
    known.add(record.uuid ?? entry)
    const message = messageOf(record)
    if (!message) continue
    for (const book of [facts, seen, state]) book.add(message, record)
  }
  const ledger = facts.ledger()
  const last = entries.findLast(({ record }) => typeof record.uuid === 'string' && record.isSidechain !== true)
  return {
    entries,
    fold,
    ledger,
    restore: async ({ kept, budget, countTokens }) =>
      restoreContext(
        {
          files: seenFileStore(seen),
          countTokens,
          touched: touchedFiles(ledger),
          kept,
          state: { ...state.state(), todos: ledger.todos, pinned: pinnedIn(fold, kept) },
          transcriptPath: path,
        },
        { budget },
      ),
    sessionId: stringAt(last?.record, 'sessionId') ?? 'unknown',
    lastUuid: stringAt(last?.record, 'uuid'),
    envelope: envelopeOf(last?.record),
    recordedSummary: summary,
  }
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
