// What the edits in force do to each row of the view: which messages they change, hide or keep. It reads edits; it
// neither orders rows nor builds messages.
import type { ToolResultBlock } from '../../message/block.ts'
import type { ViewMessage } from '../../message/message.ts'
import type { Edit } from '../format/edits.ts'
import type { Entry, Head } from '../format/entry.ts'
import { withoutResults } from '../format/messages.ts'
import { clearedResult, shortenedResult, withContent, withoutInputs, withoutMedia, withoutThinking } from './edited.ts'

export type EditAt = { readonly row: number; readonly edit: Edit; readonly uuid: string }
export type RangeAt = EditAt & { readonly edit: Extract<Edit, { readonly type: 'drop-range' | 'replace-range' }> }

/** The rows of the view in order, and how to find them. Rows are counted over the whole transcript. */
export type LiveRows = {
  readonly order: readonly number[]
  /** Where a row stands in the order; -1 when it is not in the view. */
  readonly placeOf: (row: number) => number
  readonly rowOf: (uuid: string) => number
  readonly rows: readonly { readonly head: Head; readonly entry: Entry }[]
  /** Whether a model sees anything of it. */
  readonly isVisible: (row: number) => boolean
}

/** Each by what the edit names; of several edits the newest counts. */
export type Effects = ReturnType<typeof noEffects>

function noEffects() {
  return {
    results: new Map<string, EditAt>(),
    inputs: new Map<string, EditAt>(),
    attachments: new Map<string, EditAt>(),
    media: new Map<string, EditAt>(),
    contents: new Map<string, EditAt>(),
    thinking: new Map<number, EditAt>(),
    ranges: new Map<number, RangeAt>(),
    pinned: new Set<string>(),
  }
}

/** `edits` are those in force, in the order of the transcript. */
export function effectsOf(edits: readonly EditAt[], live: LiveRows): Effects {
  const effects = noEffects()
  for (const at of edits) {
    const { edit } = at
    if (edit.type === 'clear-results') {
      for (const id of edit.toolUseIds) effects.results.set(id, at)
      for (const uuid of edit.attachments ?? []) effects.attachments.set(uuid, at)
    } else if (edit.type === 'clear-inputs') for (const id of edit.toolUseIds) effects.inputs.set(id, at)
    else if (edit.type === 'clear-media') for (const uuid of edit.uuids) effects.media.set(uuid, at)
    else if (edit.type === 'replace-content') effects.contents.set(edit.uuid, at)
    else if (edit.type === 'clear-thinking') for (const row of spanOf(at, live)) effects.thinking.set(row, at)
    else if (edit.type === 'pin') effects.pinned.add(edit.uuid)
    else if (edit.type === 'unpin') effects.pinned.delete(edit.uuid)
    else if (isRange(at)) for (const row of spanOf(at, live)) effects.ranges.set(row, at)
  }
  for (const row of effects.pinned.size === 0 ? [] : protectedRows(effects, live)) effects.ranges.delete(row)
  return effects
}

/** A pinned call keeps its result and a pinned result its call: without the other neither is worth much. */
function protectedRows({ ranges, pinned }: Pick<Effects, 'ranges' | 'pinned'>, live: LiveRows): readonly number[] {
  if (ranges.size === 0) return []
  const answerOf = answersOf(live)
  const answers = new Set([...pinned].map((uuid) => answerOf(live.rowOf(uuid))))
  return [...ranges.keys()].filter((row) => {
    const answer = answerOf(row)
    return pinned.has(live.rows[row]?.head.uuid ?? '') || (answer !== undefined && answers.has(answer))
  })
}

/** The id of the answer that a row is a piece of, or brings a result for. */
function answersOf({ rows, rowOf }: LiveRows): (row: number) => string | undefined {
  const ofCall = new Map<string, string | undefined>()
  for (const [row, { head }] of rows.entries()) {
    if (head.toolUses.length === 0 || rowOf(head.uuid ?? '') !== row) continue
    for (const id of head.toolUses) if (!ofCall.has(id)) ofCall.set(id, head.messageId)
  }
  return (row) => {
    const head = rows[row]?.head
    if (head?.messageId !== undefined) return head.messageId
    const call = head?.toolResults.find((id) => ofCall.has(id))
    return call === undefined ? undefined : ofCall.get(call)
  }
}

export const clearedContext = '[Old context cleared]'

/** The message at a row as the edits leave it, and which edits changed it. Undefined when nothing of it is left. */
export function editedMessage(message: ViewMessage, row: number, effects: Effects) {
  const { uuid = '', attachment } = message
  const { results, inputs, attachments, media, contents, thinking, pinned } = effects
  const edits: string[] = []
  if ([results, inputs, attachments, media, contents, thinking].every(({ size }) => size === 0))
    return { message, edits }
  const use = (at: EditAt | undefined) => {
    if (at && !edits.includes(at.uuid)) edits.push(at.uuid)
    return at?.edit
  }
  let now = message
  if (!pinned.has(uuid)) {
    const context = attachment === undefined ? undefined : attachments.get(uuid)
    if (context) return { message: { ...message, content: clearedContext }, edits: [context.uuid] }
    const replacing = contents.get(uuid)
    if (replacing?.edit.type === 'replace-content')
      return { message: withContent(message, replacing.edit.content), edits: [replacing.uuid] }
    if (results.size > 0) now = withoutResults(now, (result) => clearedBy(use(results.get(result.tool_use_id)), result))
    if (inputs.size > 0) now = withoutInputs(now, (id) => use(inputs.get(id)) !== undefined)
    const edit = media.size > 0 ? use(media.get(uuid)) : undefined
    if (edit?.type === 'clear-media') now = withoutMedia(now, uuid === edit.uuids.at(-1) ? edit.keep : 0)
  }
  const unthought = thinking.get(row)
  const left = unthought ? withoutThinking(now) : now
  if (left !== now) use(unthought)
  return { message: left, edits }
}

function clearedBy(edit: Edit | undefined, result: ToolResultBlock): ToolResultBlock['content'] | undefined {
  if (edit?.type !== 'clear-results') return undefined
  const { keep, recall = false } = edit
  return keep === undefined ? clearedResult(result.tool_use_id, recall) : shortenedResult(result, { keep, recall })
}

function isRange(at: EditAt): at is RangeAt {
  return at.edit.type === 'drop-range' || at.edit.type === 'replace-range'
}

/** The visible rows that an edit of a stretch means, in the order of the view; none for other edits. */
export function spanOf({ row, edit }: Pick<EditAt, 'row' | 'edit'>, live: LiveRows): readonly number[] {
  if (edit.type === 'clear-thinking') return thinkingSpan(row, edit, live).filter(live.isVisible)
  if (edit.type !== 'drop-range' && edit.type !== 'replace-range') return []
  return rangeSpan(edit, live).filter(live.isVisible)
}

/** In the order of the view; where a compaction took an end out of the view, in the order of the transcript. */
function rangeSpan(
  { from, to }: { readonly from: string; readonly to: string },
  { order, placeOf, rowOf, rows }: LiveRows,
): readonly number[] {
  const ends = [rowOf(from), rowOf(to)].toSorted((a, b) => a - b)
  const [first = -1, last = -1] = ends
  if (first < 0) return []
  const places = ends.map(placeOf)
  if (!places.includes(-1)) return order.slice(Math.min(...places), Math.max(...places) + 1)
  // Kept messages lie before the summary in the transcript and behind it in the view: it is not between them.
  return order.filter((row) => row >= first && row <= last && rows[row]?.entry.record.isCompactSummary !== true)
}

/** Whole answers, since one that lost half of its thinking is refused. Never what was said after the edit. */
function thinkingSpan(
  at: number,
  { after, before }: { readonly after?: string; readonly before?: string },
  live: LiveRows,
): readonly number[] {
  const isAfter = after === undefined ? () => true : sideOf(after, live, (a, b) => a > b)
  const isBefore = before === undefined ? () => true : sideOf(before, live, (a, b) => a < b)
  const isIn = new Set(live.order.filter((row) => row < at && isAfter(row) && isBefore(row)))
  const idOf = (row: number) => live.rows[row]?.head.messageId
  const answers = new Set([...isIn].map(idOf))
  answers.delete(undefined)
  return live.order.filter((row) => isIn.has(row) || (row < at && answers.has(idOf(row))))
}

function sideOf(
  uuid: string,
  { rowOf, placeOf }: LiveRows,
  compare: (a: number, b: number) => boolean,
): (row: number) => boolean {
  const end = rowOf(uuid)
  if (end < 0) return () => false
  const place = placeOf(end)
  return (row) => (place < 0 ? compare(row, end) : compare(placeOf(row), place))
}
