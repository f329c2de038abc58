// The pieces of a view (the message of each entry after its edits, and the text that replaces a range) and the messages they
// merge into: the pieces of an answer become one message, and everything from the user's side until the next answer becomes the
// message after it, results first. Same pieces, same bytes.

import { groupBy } from '../../message/maps.ts'
import {
  type Block,
  blocksOf,
  isMedia,
  isToolResult,
  type Origin,
  textOf,
  type ViewMessage,
} from '../../message/message.ts'
import { contextTokens } from '../../message/usage.ts'
import { headOf } from '../../text/cut.ts'
import { contextFrame, neutralizeReminders } from '../../text/neutralize.ts'
import { readCompaction } from '../format/compaction-records.ts'
import { editSubtype } from '../format/edits.ts'
import { type Entry, type Head, isSpoken } from '../format/entry.ts'
import { messageOf } from '../format/messages.ts'
import type { BoundaryAt } from '../tree/graph.ts'
import { type Effects, editedMessage, type LiveRows, type RangeAt } from './effects.ts'

/** An entry with its cached message and piece, which the next view reuses if nothing has changed. */
export type Row = {
  readonly entry: Entry
  readonly head: Head
  /** Null if a model sees nothing of it. For an edit of a range, the text that replaces the range. */
  message: ViewMessage | null | undefined
  piece: ViewPiece | undefined
}

type Seen = { readonly live: LiveRows; readonly effects: Effects; readonly undone: readonly BoundaryAt[] }

/** `undone` are the boundaries of compactions that are out of the view. */
export function viewPieces(all: readonly Row[], { live, effects, undone }: Seen): readonly ViewPiece[] {
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

export type Source = {
  /** The entries, in order. A message that replaces a range lists all entries of the range. */
  readonly uuids: readonly string[]
  readonly edits: readonly string[]
  readonly isPinned: boolean
  /** The pieces of the message, one per entry or range. */
  readonly pieces: readonly ViewMessage[]
}

export type ViewPiece = {
  /** The row of its entry, or of the edit that replaced a range. */
  readonly row: number
  readonly message: ViewMessage
  /** The uuid of its entry, or of all entries in a range. */
  readonly uuids: readonly string[]
  readonly edits: readonly string[]
  readonly isPinned: boolean
  /** The merged message that begins with this piece, cached: the same pieces give the same object. */
  merged?: Merged
}

export type Merged = { readonly from: readonly ViewPiece[]; readonly message: ViewMessage; readonly source: Source }

export function mergePieces(pieces: readonly ViewPiece[]): Merged[] {
  // An answer, and the user's side after it.
  const newRound = (id: string | undefined) => ({
    id,
    said: [] as ViewPiece[],
    brought: [] as ViewPiece[],
    isClosed: false,
  })
  let round = newRound(undefined)
  const rounds = [round]
  for (const piece of pieces) {
    const { role, messageId, origin } = piece.message
    if (role === 'assistant') {
      if (messageId === undefined || messageId !== round.id || round.isClosed) {
        round = newRound(messageId)
        rounds.push(round)
      }
      round.said.push(piece)
    } else {
      round.brought.push(piece)
      // Codex rollouts give a whole history one id, but a user message ends an answer in any format.
      round.isClosed ||= origin !== 'tool-result' && origin !== 'attachment'
    }
  }
  const merged: Merged[] = []
  for (const { said, brought } of rounds) {
    if (said.length > 0) merged.push(mergedOf(said))
    if (brought.length > 0) merged.push(mergedOf(brought))
  }
  return merged
}

/** Number of messages before the last round, which the next piece may extend. */
export function beforeLastRound(merged: readonly Merged[]): number {
  const isLastAnswered = merged.at(-1)?.message.role === 'user' && merged.length > 1
  return Math.max(0, merged.length - (isLastAnswered ? 2 : 1))
}

/** Merges the messages of entries, in the order of the view. */
export function mergedMessages(pieces: readonly ViewMessage[]): readonly ViewMessage[] {
  const merged = mergePieces(pieces.map((message) => ({ row: -1, message, uuids: [], edits: [], isPinned: false })))
  return merged.map(({ message }) => message)
}

function mergedOf(pieces: readonly ViewPiece[]): Merged {
  const first = pieces[0] as ViewPiece
  const known = first.merged
  if (known && known.from.length === pieces.length && known.from.every((piece, at) => piece === pieces[at]))
    return known
  const own = pieces.map(({ message }) => message)
  const message = first.message.role === 'assistant' ? mergeAnswer(own) : mergeUser(own)
  const source: Source = {
    uuids: pieces.length === 1 ? first.uuids : pieces.flatMap(({ uuids }) => uuids),
    edits: pieces.length === 1 ? first.edits : [...new Set(pieces.flatMap(({ edits }) => edits))],
    isPinned: pieces.some(({ isPinned }) => isPinned),
    pieces: own,
  }
  first.merged = { from: pieces, message, source }
  return first.merged
}

/** The usage is that of the piece with the most output, because old clients wrote stubs first. */
function mergeAnswer(pieces: readonly ViewMessage[]): ViewMessage {
  const first = pieces[0] as ViewMessage
  if (pieces.length === 1) return first
  let best = first
  for (const message of pieces) {
    if (!message.usage || message === first) continue
    if (!best.usage || contextTokens(message.usage) >= contextTokens(best.usage)) best = message
  }
  const content = pieces.flatMap((message) => blocksOf(message.content))
  const { model, usage } = best
  return { ...first, content, ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) }
}

function mergeUser(messages: readonly ViewMessage[]): ViewMessage {
  const [first] = messages
  if (first && messages.length === 1 && first.origin !== 'attachment') {
    const content = typeof first.content === 'string' ? first.content : resultsFirst(first.content)
    return content === first.content ? first : { ...first, content }
  }
  const { uuid, time } = first ?? {}
  const kind = first?.attachment
  const isOfOneKind = kind !== undefined && messages.every(({ attachment }) => attachment === kind)
  return {
    role: 'user',
    content: contentOfAll(messages),
    origin: originOfAll(messages),
    ...(uuid === undefined ? {} : { uuid }),
    ...(time === undefined ? {} : { time }),
    ...(isOfOneKind ? { attachment: kind } : {}),
  }
}

function contentOfAll(messages: readonly ViewMessage[]): readonly Block[] {
  const runs = runsOf(messages).map((run) =>
    run[0]?.origin === 'attachment' ? contextBlocks(run) : blocksOf(run[0]?.content),
  )
  return resultsFirst(runs.length === 1 ? (runs[0] ?? []) : runs.flat())
}

/** Returns the same list unless something comes before a result. */
function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  const firstOther = blocks.findIndex((block) => !isToolResult(block))
  const isSorted = firstOther < 0 || !blocks.some((block, at) => at > firstOther && isToolResult(block))
  return isSorted ? blocks : [...blocks.filter(isToolResult), ...blocks.filter((block) => !isToolResult(block))]
}

/** Groups adjacent attachments; every other message is alone. */
function runsOf(messages: readonly ViewMessage[]): readonly (readonly ViewMessage[])[] {
  const runs: ViewMessage[][] = []
  for (const message of messages) {
    const last = runs.at(-1)
    if (last?.[0]?.origin === 'attachment' && message.origin === 'attachment') last.push(message)
    else runs.push([message])
  }
  return runs
}

function contextBlocks(attachments: readonly ViewMessage[]): readonly Block[] {
  const pieces = attachments.map(({ attachment = 'context', content }) => {
    return `# ${attachment.replace(/\s+/g, ' ')}\n${textOf(content)}`
  })
  const text = contextFrame(pieces)
  const media = attachments.flatMap(({ content }) => blocksOf(content).filter(isMedia))
  return [{ type: 'text', text }, ...media]
}

/** The origin of a mixed message is the first of these that it contains. */
const weightiest: readonly Origin[] = ['summary', 'tool-result', 'human', 'agent', 'meta', 'attachment']

function originOfAll(messages: readonly ViewMessage[]): Origin {
  return weightiest.find((origin) => messages.some((message) => message.origin === origin)) ?? 'meta'
}
