// Which rows an edit means that names a stretch of the conversation by its ends. In the view's order where both ends
// are in the view; else, when a compaction has taken an end out of it, by their order in the transcript.
import type { JsonObject } from '../../message/json.ts'
import type { Edit } from '../format/edits.ts'
import type { LiveOrder } from '../tree/order.ts'

type SpanEdit = Extract<Edit, { readonly type: 'clear-thinking' | 'drop-range' | 'replace-range' }>
type Lines = { readonly order: LiveOrder; readonly recordAt: (row: number) => JsonObject }

/** In the view's order, those that can be seen. `at` is the row of the edit. */
export function spanOf(at: number, edit: SpanEdit, lines: Lines): readonly number[] {
  const rows = edit.type === 'clear-thinking' ? thinkingSpan(at, edit, lines) : rangeSpan(edit, lines)
  return rows.filter(lines.order.isVisible)
}

function rangeSpan(
  { from, to }: { readonly from: string; readonly to: string },
  { order, recordAt }: Lines,
): readonly number[] {
  const ends = [order.rowOf(from), order.rowOf(to)]
  if (ends.some((row) => row < 0)) return []
  const places = ends.map(order.placeOf)
  if (places.every((place) => place !== undefined)) {
    return order.rows().slice(Math.min(...places), Math.max(...places) + 1)
  }
  const [first, last] = [Math.min(...ends), Math.max(...ends)]
  // Kept messages lie before the summary in the transcript and behind it in the view: it is not between them.
  return order.rows().filter((row) => row >= first && row <= last && recordAt(row).isCompactSummary !== true)
}

/** Whole answers: one that lost half of its thinking is refused. Never what was said after the edit. */
function thinkingSpan(
  at: number,
  { after, before }: { readonly after?: string; readonly before?: string },
  { order }: Lines,
): readonly number[] {
  const isAfter = after === undefined ? () => true : side(after, order, (a, b) => a > b)
  const isBefore = before === undefined ? () => true : side(before, order, (a, b) => a < b)
  const rows = order.rows().filter((row) => row < at && isAfter(row) && isBefore(row))
  const answers = new Set(rows.map(order.pieceOf).filter((answer) => answer >= 0))
  const isPartOf = (row: number) => answers.has(order.pieceOf(row))
  const isIn = new Set(rows)
  return order.rows().filter((row) => isIn.has(row) || (row < at && isPartOf(row)))
}

function side(uuid: string, order: LiveOrder, compare: (a: number, b: number) => boolean): (row: number) => boolean {
  const end = order.rowOf(uuid)
  if (end < 0) return () => false
  const place = order.placeOf(end)
  return (row) => (place === undefined ? compare(row, end) : compare(order.placeOf(row) ?? -1, place))
}
