// The pieces of a view: the message of each entry after its edits, and for each range that an edit replaced, the replacement.
import { groupBy } from '../../message/maps.ts'
import type { ViewMessage } from '../../message/message.ts'
import { headOf } from '../../text/cut.ts'
import { neutralizeReminders } from '../../text/neutralize.ts'
import { readCompaction } from '../format/compaction-records.ts'
import { editSubtype } from '../format/edits.ts'
import { type Entry, type Head, isSpoken } from '../format/entry.ts'
import { messageOf } from '../format/messages.ts'
import type { BoundaryAt } from '../tree/graph.ts'
import { type Effects, editedMessage, type LiveRows, type RangeAt } from './effects.ts'
import type { ViewPiece } from './merge.ts'

/** An entry with its cached message and piece, which the next view reuses if nothing has changed. */
export type Row = {
  readonly entry: Entry
  readonly head: Head
  /** Null if a model sees nothing of it. For an edit of a range, the text that replaces the range. */
  message: ViewMessage | null | undefined
  piece: ViewPiece | undefined
}

type ViewParts = { readonly live: LiveRows; readonly effects: Effects; readonly undone: readonly BoundaryAt[] }

/** `undone` are the boundaries of compactions that are out of the view. */
export function viewPieces(all: readonly Row[], { live, effects, undone }: ViewParts): readonly ViewPiece[] {
  const pieces: ViewPiece[] = []
  const hidden = new Set(undone.flatMap(({ row }) => rowsWrittenBy(row, all, live)))
  const isRemoved = (row: number) => effects.ranges.has(row)
  /** By range: the rows it replaces, in the order of the view. */
  const covered = groupBy(live.order.filter(isRemoved), (row) => effects.ranges.get(row))
  for (const row of live.order) {
    if (hidden.has(row)) continue
    const range = effects.ranges.get(row)
    const stretch = covered.get(range)
    if (range && stretch?.[0] === row) pieces.push(rangePiece(all[range.row] as Row, range, uuidsAt(stretch, all)))
    if (range || !live.isVisible(row)) continue
    const piece = entryPiece(all[row] as Row, row, effects)
    if (piece) pieces.push(piece)
  }
  return pieces
}

function uuidsAt(rows: readonly number[], all: readonly Row[]): readonly string[] {
  return rows.flatMap((row) => all[row]?.head.uuid ?? [])
}

export function entryPiece(known: Row, row: number, effects: Effects): ViewPiece | undefined {
  if (known.message === undefined) known.message = messageOf(known.entry.record) ?? null
  if (!known.message) return undefined
  const { uuid = '' } = known.message
  const { message, edits } = editedMessage(known.message, row, effects)
  if (!message || message.content.length === 0) return undefined
  return sameOr(known, { row, message, uuids: [uuid], edits, isPinned: effects.pinned.has(uuid) })
}

function rangePiece(known: Row, range: RangeAt, uuids: readonly string[]): ViewPiece {
  if (!known.message) {
    const time = Date.parse(String(known.entry.record.timestamp))
    known.message = { ...rangeText(range.edit), uuid: range.uuid, ...(Number.isNaN(time) ? {} : { time }) }
  }
  return sameOr(known, { row: range.row, message: known.message, uuids, edits: [range.uuid], isPinned: false })
}

/** The same edits on the same entries give the same message, so the cached piece is returned. */
function sameOr(known: Row, piece: ViewPiece): ViewPiece {
  const { piece: old } = known
  if (
    old &&
    old.isPinned === piece.isPinned &&
    isSameList(old.edits, piece.edits) &&
    isSameList(old.uuids, piece.uuids)
  )
    return old
  known.piece = piece
  return piece
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at])
}

const maxMarkerLength = 300
const maxSummaryLength = 60_000

/** The text that replaces a range. For a dropped range it is one line, whatever the edit says. */
function rangeText(edit: RangeAt['edit']): Pick<ViewMessage, 'role' | 'content' | 'origin'> {
  if (edit.type === 'replace-range') {
    return { role: 'user', content: neutralizeReminders(headOf(edit.text, maxSummaryLength)), origin: 'summary' }
  }
  const line = neutralizeReminders(
    headOf(edit.marker, 4 * maxMarkerLength)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return {
    role: 'user',
    content: line === '' ? '[Messages removed from the context]' : headOf(line, maxMarkerLength),
    origin: 'meta',
  }
}

/**
 * The summary and the restored context of an undone compaction. A boundary of ours names the last of these records; for
 * others it is guessed.
 */
function rowsWrittenBy(boundary: number, all: readonly Row[], { rowOf }: LiveRows): readonly number[] {
  const { head: first, entry } = all[boundary] as Row
  const kept = first.boundary?.kept
  const isKept = new Set(kept?.type === 'listed' ? kept.uuids : [])
  const last = rowOf(readCompaction(entry.record).last ?? '')
  const end = last < 0 ? all.length : last + 1
  const own: number[] = []
  for (let row = boundary + 1; row < end; row++) {
    const { head, entry } = all[row] as Row
    const { record } = entry
    if (record.subtype === editSubtype || head.boundary) break
    if (!(isSpoken(head) || head.type === 'attachment') || isKept.has(head.uuid ?? '')) continue
    if (head.sidechain !== first.sidechain) continue
    const message = messageOf(record)
    const isUnseen = head.type === 'attachment' && message === undefined
    if (record.isCompactSummary !== true && message?.origin !== 'attachment' && !isUnseen) break
    own.push(row)
  }
  return own
}
