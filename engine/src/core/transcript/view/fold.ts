// The fold: entries and edits become the view, what the next request would carry, with the provenance of every message.
// Same transcript, same bytes, whatever path led there. It reads and never changes an entry.
import type { JsonObject } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import type { Usage } from '../../message/usage.ts'
import { headOf as headOfText } from '../../text/cut.ts'
import { neutralizeReminders } from '../../text/neutralize.ts'
import { readCompaction } from '../format/compaction-records.ts'
import { type Edit, editSubtype, readEdit } from '../format/edits.ts'
import { type Entry, type Head, headOf, isSpoken } from '../format/entry.ts'
import { messageOf } from '../format/messages.ts'
import { createLiveOrder, type LiveOrder } from '../tree/order.ts'
import { type Change, nothingUndone, type Standing, standingOf } from '../tree/standing.ts'
import { createChangedAnswers } from './changed-answers.ts'
import { createEffects, type EditAt, type Effects, isOfContents, type RangeAt } from './effects.ts'
import type { Piece, Source } from './merge.ts'
import { createProvenance, type Ground, trustedAnswers } from './provenance.ts'
import { createRowRounds, type MergedMessages, type RowRounds } from './rounds-of-rows.ts'

/** Never changes, whatever is added to the fold later. Lists are copied when they are first looked at. */
export type View = {
  readonly messages: readonly ViewMessage[]
  /** For each message what it came from. */
  readonly sources: readonly Source[]
  /** In force, in the order of the transcript. */
  readonly edits: readonly { readonly uuid: string; readonly edit: Edit }[]
  readonly pins: readonly string[]
  /**
   * The answers whose usage still tells the size, each with the tokens that edits have freed of its prompt since. Absent
   * while nothing has changed: then all of them do.
   */
  readonly trusted?: ReadonlyMap<number, number> | undefined
  /** The newest compaction, or edit that tells it: the size it was made at, and the entries and edits that the view showed right after it. */
  readonly reduced?: { readonly tokens: number; readonly uuids: ReadonlySet<string> } | undefined
  /** Answers that were given on another prefix than the one before them now: bound thinking of theirs is void. */
  readonly changed: ReadonlySet<number>
}

export type Fold = {
  /** O(1) for what goes on from the newest entry; the work of an edit is done when the view is asked for. */
  readonly add: (entry: Entry) => void
  readonly view: () => View
  /** Any entry by its uuid, in the view or not: nothing is out of reach. */
  readonly entry: (uuid: string) => Entry | undefined
}

export function foldEntries(entries: Iterable<Entry>): View {
  const fold = createFold()
  for (const entry of entries) fold.add(entry)
  return fold.view()
}

export function createFold(): Fold {
  const folding = new Folding()
  return {
    add: (entry) => folding.add(entry),
    view: () => folding.view(),
    entry: (uuid) => folding.entries[folding.order.rowOf(uuid)],
  }
}

const noEdits: readonly string[] = []

class Folding implements Ground {
  readonly entries: Entry[] = []
  readonly order: LiveOrder = createLiveOrder((row) => this.headAt(row))
  readonly changes: Change[] = []
  standing: Standing = nothingUndone
  effects: Effects = this.freshEffects()
  private rounds: RowRounds = this.freshRounds()
  /** Edits that the effects know of, and what is to be done about the others. */
  private applied = new Map<number, EditAt>()
  private hidden: ReadonlySet<number> = new Set()
  private isTurned = false
  private isWhole = true
  private edits: View['edits'] = []
  private pins: readonly string[] = []
  /** How many of the changes the effects have taken account of. */
  private known = 0
  private readonly provenance = createProvenance(this)
  private readonly changedAnswers = createChangedAnswers()
  /** Of the answer that was read last. */
  private usage: Usage | undefined
  private current: View | undefined

  add(entry: Entry): void {
    const head = headOf(entry)
    this.entries.push(entry)
    this.current = undefined
    const row = this.order.add(head)
    if (head.uuid === undefined || this.order.isDuplicate(row)) return
    const edit = head.type === 'system' ? readEdit(entry.record) : undefined
    if (!edit && !head.boundary) return
    this.changes.push({ row, uuid: head.uuid, edit, freed: edit ? undefined : readCompaction(entry.record).freed })
    if (edit?.type === 'undo' || edit?.type === 'rewind') this.isTurned = true
  }

  view(): View {
    this.current ??= this.settle()
    return this.current
  }

  private settle(): View {
    if (this.isTurned) this.turn()
    const from = this.order.changedFrom()
    this.provenance.goOn(from)
    if (this.isWhole || this.effects.isMoved(from)) this.startOver()
    else {
      this.rounds.cutTo(from)
      this.refresh()
    }
    this.rounds.growTo(this.order.rows().length)
    return this.viewOf(this.rounds.messages())
  }

  /** An undo or a rewind came: other edits are in force, and perhaps another tree. */
  private turn(): void {
    const before = this.standing
    this.standing = standingOf(this.changes, this.order.rowOf)
    this.isTurned = false
    this.known = 0
    this.provenance.startOver()
    const isTree = ({ row, edit }: Change) => {
      if (edit?.type === 'rewind') return before.rewinds.get(row) !== this.standing.rewinds.get(row)
      return edit === undefined && before.out.has(row) !== this.standing.out.has(row)
    }
    if (!this.changes.some(isTree)) return
    this.order.change(this.standing)
    this.hidden = hiddenRows(this)
    this.isWhole = true
  }

  private startOver(): void {
    this.effects = this.freshEffects()
    this.rounds = this.freshRounds()
    this.applied = new Map()
    this.isWhole = false
    this.known = 0
    this.provenance.startOver()
    this.refresh()
  }

  /** Brings the effects to what is in force, and looks again at what that touches. */
  private refresh(): void {
    if (this.known === this.changes.length) return
    this.known = this.changes.length
    // Not spread into arguments anywhere: an edit may touch more rows than a call can take.
    const amended: number[] = []
    const touched: number[] = []
    const touch = (rows: readonly number[], places: number[]) => {
      for (const row of rows) {
        const place = this.order.placeOf(row)
        if (place !== undefined) places.push(place)
      }
    }
    const inForce = this.editsInForce()
    for (const [row, at] of this.applied) {
      if (inForce.has(row)) continue
      touch(this.effects.withdraw(at), touched)
      this.applied.delete(row)
    }
    for (const [row, at] of inForce) {
      if (this.applied.has(row)) continue
      touch(this.effects.apply(at), isOfContents(at.edit) && !this.effects.hasRanges() ? amended : touched)
      this.applied.set(row, at)
    }
    this.rounds.amend(amended, (piece) => this.effects.edited(piece))
    this.rounds.refresh(touched)
    const inOrder = [...this.applied.values()].toSorted((a, b) => a.row - b.row)
    this.edits = inOrder.map(({ uuid, edit }) => ({ uuid, edit }))
    const pins = inOrder.flatMap(({ edit }) => (edit.type === 'pin' ? [edit.uuid] : []))
    this.pins = [...new Set(pins)].filter((uuid) => this.effects.isPinned(uuid))
  }

  private editsInForce(): ReadonlyMap<number, EditAt> {
    const found = new Map<number, EditAt>()
    const boundary = this.changes.findLast(({ row, edit }) => !edit && !this.standing.out.has(row))?.row ?? -1
    for (const { row, uuid, edit } of this.changes) {
      if (!edit || edit.type === 'undo' || edit.type === 'rewind' || this.standing.out.has(row)) continue
      // What the server left out of a history that was summarised since is no longer left out of anything.
      if (edit.type === 'server-cleared' && row < boundary) continue
      found.set(row, this.applied.get(row) ?? { row, edit, uuid, alone: [uuid] })
    }
    return found
  }

  private freshEffects(): Effects {
    return createEffects(this.order, (row) => this.recordAt(row))
  }

  private freshRounds(): RowRounds {
    return createRowRounds((place) => this.pieceAt(place))
  }

  private headAt(row: number): Head | undefined {
    const entry = this.entries[row]
    return entry && headOf(entry)
  }

  private recordAt(row: number): JsonObject {
    return this.entries[row]?.record ?? {}
  }

  private pieceAt(place: number): Piece | undefined {
    const row = this.order.rows()[place] ?? -1
    if (this.hidden.has(row)) return undefined
    const range = this.effects.coverOf(row)
    if (range) return this.effects.firstOf(range) === row ? this.rangePiece(range, place) : undefined
    if (!this.order.isVisible(row)) return undefined
    const record = this.recordAt(row)
    const original = messageOf(record, this.usage)
    if (!original) return undefined
    this.usage = original.usage ?? this.usage
    const uuid = typeof record.uuid === 'string' ? record.uuid : undefined
    const uuids = uuid ?? []
    const isPinned = this.effects.isPinned(uuid)
    if (this.effects.isIdle()) {
      return original.content.length === 0
        ? undefined
        : { message: original, uuids, edits: noEdits, isPinned, row, place }
    }
    const { message, edits } = this.effects.edited(original)
    if (!message || message.content.length === 0) return undefined
    return { message, uuids, edits, isPinned, row, place }
  }

  private rangePiece(range: RangeAt, place: number): Piece {
    const rows = this.effects.coveredBy(range).filter(this.order.isVisible)
    const uuids = rows.flatMap((row) => this.headAt(row)?.uuid ?? [])
    const time = Date.parse(String(this.recordAt(range.row).timestamp))
    const message = { ...rangeText(range.edit), uuid: range.uuid, ...(Number.isNaN(time) ? {} : { time }) }
    return { message, uuids, edits: [range.uuid], isPinned: false, row: range.row, place }
  }

  /** The newest in force that tells it: the size it was made at, and its last row. */
  private newestReduction(): { readonly tokens: number; readonly end: number } | undefined {
    const { order, standing } = this
    for (const { row, edit } of this.changes.toReversed()) {
      const tokens = edit ? edit.size : order.head(row)?.boundary?.preTokens
      if (tokens === undefined || standing.out.has(row)) continue
      if (edit) return { tokens, end: row }
      if ((order.placeOf(row) ?? order.placeOf(row + 1)) === undefined) continue
      const { last } = readCompaction(this.recordAt(row))
      return { tokens, end: last === undefined ? row + 1 : order.rowOf(last) }
    }
    return undefined
  }

  private viewOf(lists: MergedMessages): View {
    const { edits, pins } = this
    const changes = this.provenance.prefixChanges()
    const merged = lists.merged.snapshot()
    const messages = once(lists.messages.snapshot().toArray)
    const sources = once(lists.sources.snapshot().toArray)
    const changed = once(() => this.changedAnswers(changes, merged.toArray))
    const trusted = once(() => trustedAnswers(changes, merged.toArray()))
    const newest = this.newestReduction()
    const reduced = once(() => {
      const uuids = sources().flatMap(({ pieces }) => pieces.flatMap(({ uuid }) => uuid ?? []))
      const { tokens = 0, end = -1 } = newest ?? {}
      return { tokens, uuids: new Set(uuids.filter((uuid) => this.order.rowOf(uuid) <= end)) }
    })
    return {
      get messages() {
        return messages()
      },
      get sources() {
        return sources()
      },
      edits,
      pins,
      get trusted() {
        return changes.length === 0 ? undefined : trusted()
      },
      get reduced() {
        return newest && reduced()
      },
      get changed() {
        return changed()
      },
    }
  }
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const longestMarker = 300
const longestSummary = 60_000

/** What stands in the place of a range. A dropped stretch is one line, whatever the edit says. */
function rangeText(edit: RangeAt['edit']): Pick<ViewMessage, 'role' | 'content' | 'origin'> {
  if (edit.type === 'replace-range') {
    return { role: 'user', content: neutralizeReminders(headOfText(edit.text, longestSummary)), origin: 'summary' }
  }
  const line = neutralizeReminders(
    headOfText(edit.marker, 4 * longestMarker)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return {
    role: 'user',
    content: line === '' ? '[Messages removed from the context]' : headOfText(line, longestMarker),
    origin: 'meta',
  }
}

/**
 * What a compaction that is out of the view wrote for itself: its summary, and the context it put back, which stands
 * right behind it in the transcript. A boundary of ours names the last of these records; others' have to be guessed.
 */
function hiddenRows({ order, standing, entries }: Folding): ReadonlySet<number> {
  const hidden = new Set<number>()
  for (const { row: boundary } of order.boundaries) {
    if (!standing.out.has(boundary)) continue
    const kept = order.head(boundary)?.boundary?.kept
    const isKept = new Set(kept?.type === 'listed' ? kept.uuids : [])
    const last = order.rowOf(readCompaction(entries[boundary]?.record).last ?? '')
    const end = last < 0 ? order.length() : last + 1
    for (let row = boundary + 1; row < end; row++) {
      const head = order.head(row)
      const record = entries[row]?.record ?? {}
      if (!head || record.subtype === editSubtype || head.boundary) break
      if (!(isSpoken(head) || head.type === 'attachment') || head.sidechain || isKept.has(head.uuid ?? '')) continue
      const isItsOwn = record.isCompactSummary === true || messageOf(record)?.origin === 'attachment'
      const isUnseen = head.type === 'attachment' && messageOf(record) === undefined
      if (!isItsOwn && !isUnseen) break
      hidden.add(row)
    }
  }
  return hidden
}
