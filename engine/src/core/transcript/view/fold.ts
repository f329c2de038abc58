// The fold: turns entries and edits into the view, the content of the next request with the source of every message. The same
// transcript gives the same bytes, and no entry is changed. Entries that only continue the conversation extend the view; after
// anything else the whole transcript is folded again. The fold also finds the answers whose prefix has changed since: their usage
// may no longer give the size, and their thinking may be invalid.

import { objectAt } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import { readCompaction } from '../format/compaction-records.ts'
import type { Edit } from '../format/edits.ts'
import { type Entry, readHead } from '../format/entry.ts'
import { type Change, type ChangesInForce, changeAt, changesInForce, isCompactionUndone } from '../tree/changes.ts'
import { type Graph, isVisibleAt, rowOf } from '../tree/graph.ts'
import { addHeadToTree, createHeadTree, liveOrder } from '../tree/live.ts'
import { type EditAt, type Effects, effectsOf, type LiveRows, type Targets, targetsOf } from './effects.ts'
import { beforeLastRound, type Merged, mergePieces, type Source, type ViewPiece } from './merge.ts'
import { entryPiece, type Row, viewPieces } from './pieces.ts'
import { continuedWindow, noIdsSeen, type SeenIds, type Transcript, type WindowEnd, windowEnd } from './window-end.ts'

/** Immutable. A message that did not change is the same object in every view. */
export type View = {
  readonly messages: readonly ViewMessage[]
  readonly sources: readonly Source[]
  /** Edits in force, in the order of the transcript. */
  readonly edits: readonly { readonly uuid: string; readonly edit: Edit }[]
  readonly pins: readonly string[]
  /** Answers whose usage still gives the size, with the tokens freed since then. Absent if nothing has changed. */
  readonly trusted?: ReadonlyMap<number, number> | undefined
  /** The newest change that records the size before it. */
  readonly reduced?: Reduction | undefined
  /** Answers whose prefix has changed since. Their signed thinking is no longer valid. */
  readonly changed: ReadonlySet<number>
  /** The last compaction was undone, and no other followed. */
  readonly isCompactionUndone?: true
}

export type Reduction = {
  /** Tokens of the context before the change, and after it if recorded, in tokens of this model. */
  readonly before: number
  readonly after?: number | undefined
  readonly model?: string | undefined
  /** The entries of the view right after the change. */
  readonly uuids: ReadonlySet<string>
}

export type Fold = {
  /** Cheap: the view is computed, or extended, on the next call of `view`. */
  readonly add: (entry: Entry) => void
  readonly view: () => View
  readonly entry: (uuid: string) => Entry | undefined
}

export function foldEntries(entries: Iterable<Entry>): View {
  const fold = createFold()
  for (const entry of entries) fold.add(entry)
  return fold.view()
}

export function createFold(): Fold {
  const transcript: Transcript = { rows: [], tree: createHeadTree(), changes: [] }
  const seen = noIdsSeen()
  let current: Folded | undefined
  return {
    add: (entry) => addEntry(transcript, entry),
    view: () => {
      if (current?.rows !== transcript.rows.length)
        current = (current && extended(current, transcript, seen)) ?? folded(transcript)
      return current.view
    },
    entry: (uuid) => transcript.rows[rowOf(transcript.tree.table, uuid)]?.entry,
  }
}

function addEntry({ rows, tree, changes }: Transcript, entry: Entry): void {
  const head = readHead(entry)
  rows.push({ entry, head, message: undefined, piece: undefined })
  const row = addHeadToTree(tree, head)
  const change = tree.table.duplicates.at(-1) === row ? undefined : changeAt(row, entry.record, head)
  if (change) changes.push(change)
}

/** A view, and the state needed to extend it. */
type Folded = {
  readonly view: View
  /** Number of rows of the transcript that it includes. */
  readonly rows: number
  readonly end: WindowEnd | undefined
  readonly effects: Effects
  readonly changed: AppliedChanges
  readonly merged: Merged[]
}

function folded(transcript: Transcript): Folded {
  const { rows, tree, changes } = transcript
  const standing = changesInForce(changes, (uuid) => rowOf(tree.table, uuid))
  const isLeaf = (row: number) => isVisibleAt(tree.table, row) || standing.rewinds.has(row)
  const { order, graph, leaf } = liveOrder(tree, isLeaf, standing)
  const live = liveRows(transcript, order)
  const edits = editsInForce(changes, standing)
  const targets = targetsOf(changes, live)
  const effects = effectsOf(edits, live, targets)
  const undone = tree.boundaries.filter(({ row }) => standing.out.has(row))
  const pieces = viewPieces(rows, { live, effects, undone })
  const merged = mergePieces(pieces)
  const changed: AppliedChanges = { changes, standing, live, kept: graph.kept, targets }
  const { out } = standing
  const isHeldBack =
    undone.length > 0 && isCompactionUndone(changes, { out, recordAt: (row) => rows[row]?.entry.record })
  const inForce = changes.filter(({ row }) => !out.has(row))
  const view: View = {
    messages: merged.map(({ message }) => message),
    sources: merged.map(({ source }) => source),
    edits: edits.map(({ uuid, edit }) => ({ uuid, edit })),
    pins: pinsOf(edits, effects),
    ...answersOnOtherPrefix(merged, changed),
    reduced: reducedBy(inForce, live, pieces),
    ...(isHeldBack ? { isCompactionUndone: true } : {}),
  }
  const end = windowEnd(transcript, { order, graph, leaf })
  return { view, rows: rows.length, end, effects, changed, merged }
}

/** The view extended by the entries added since, if these leave everything before them unchanged. */
function extended(before: Folded, transcript: Transcript, seen: SeenIds): Folded | undefined {
  const { effects, changed, merged, view } = before
  const { rows, tree } = transcript
  const continued = before.end && continuedWindow(transcript, before.end, { first: before.rows, seen })
  if (!continued) return undefined
  const now = { ...before, rows: rows.length, end: continued.end }
  const visible = continued.added.filter((row) => isVisibleAt(tree.table, row))
  const pieces = visible.flatMap((row) => entryPiece(rows[row] as Row, row, effects) ?? [])
  changed.live.append(continued.added)
  if (pieces.length === 0) return now
  const from = beforeLastRound(merged)
  const last = merged.splice(from).flatMap((one) => one.from)
  const added = mergePieces([...last, ...pieces])
  merged.push(...added)
  const messages = view.messages.toSpliced(from, 2, ...added.map(({ message }) => message))
  const sources = view.sources.toSpliced(from, 2, ...added.map(({ source }) => source))
  return { ...now, view: { ...view, messages, sources, ...answersOnOtherPrefix(merged, changed) } }
}

type GrowingRows = LiveRows & { readonly append: (rows: readonly number[]) => void }

function liveRows({ rows, tree }: Transcript, first: readonly number[]): GrowingRows {
  const { table } = tree
  const order: number[] = []
  const places: number[] = new Array(rows.length).fill(0)
  const append = (added: readonly number[]) => {
    for (const row of added) places[row] = order.push(row)
  }
  append(first)
  return {
    rows,
    order,
    append,
    placeOf: (row) => (places[row] ?? 0) - 1,
    rowOf: (uuid) => rowOf(table, uuid),
    isVisible: (row) => isVisibleAt(table, row),
  }
}

function editsInForce(changes: readonly Change[], { out }: ChangesInForce): readonly EditAt[] {
  const boundary = changes.findLast(({ row, edit }) => !edit && !out.has(row))?.row ?? -1
  return changes.filter((change): change is EditAt => {
    const { row, edit } = change
    if (!edit || edit.type === 'undo' || edit.type === 'rewind' || out.has(row)) return false
    // A later summary replaced the history from which the server hid parts, so nothing is hidden any more.
    return edit.type !== 'server-cleared' || row > boundary
  })
}

function pinsOf(edits: readonly EditAt[], { pinned }: Effects): readonly string[] {
  const pins = edits.flatMap(({ edit }) => (edit.type === 'pin' && pinned.has(edit.uuid) ? [edit.uuid] : []))
  return [...new Set(pins)]
}

function reducedBy(inForce: readonly Change[], live: LiveRows, pieces: readonly ViewPiece[]): Reduction | undefined {
  for (const { row, edit } of inForce.toReversed()) {
    const known = live.rows[row]
    // Begins an empty context, so no earlier size counts.
    if (!edit && objectAt(known?.entry.record, 'everlong')?.isCleared === true) return undefined
    const before = edit ? edit.size : known?.head.boundary?.preTokens
    if (before === undefined) continue
    if (!edit && live.placeOf(row) < 0 && live.placeOf(row + 1) < 0) continue
    const { last, size } = readCompaction(edit ? undefined : known?.entry.record)
    const end = edit ? row : last === undefined ? row + 1 : live.rowOf(last)
    const shown = pieces.flatMap((piece) => (piece.row <= end ? (piece.message.uuid ?? []) : []))
    return { before, ...size, uuids: new Set(shown) }
  }
  return undefined
}

type AppliedChanges = {
  readonly changes: readonly Change[]
  readonly standing: ChangesInForce
  readonly live: GrowingRows
  readonly kept: Graph['kept']
  readonly targets: Targets
}

/** A change of the prefix at one position, for the answers between two rows of the transcript. */
type PrefixChange = {
  readonly place: number
  readonly above: number
  readonly below: number
  readonly row: number
  readonly freed?: number
  /** Rows that a compaction kept after its summary. In the file they may come later. */
  readonly kept?: ReadonlySet<number>
  /** Only thinking was removed, oldest first: no other thinking depends on it. */
  readonly isOldestThinking?: boolean
}

function prefixChanges({ changes, standing, live, kept, targets }: AppliedChanges): readonly PrefixChange[] {
  if (changes.length === 0) return []
  const turns = lastTurns(changes, live.rowOf)
  return changes.flatMap(({ row, edit, freed }): readonly PrefixChange[] => {
    if (standing.past.has(row) || edit?.type === 'undo') return []
    const isOut = standing.out.has(row)
    const below = turns.get(row) ?? row
    const found = { row, above: isOut ? row : -1, below, ...(freed === undefined ? {} : { freed }) }
    // Answers given while it was in force had its prefix; earlier ones had the old prefix.
    if (edit === undefined) return isOut ? [{ ...found, place: -1 }] : boundaryChange(found, live, kept)
    if (edit.type === 'rewind') return isOut ? [{ ...found, place: -1 }] : []
    const place = (targets.get(row) ?? []).reduce((first, { row }) => Math.min(first, live.placeOf(row)), nowhere)
    if (place === nowhere) return []
    // Thinking may be removed oldest first. It may not leave a gap or come back.
    const isOldestThinking = edit.type === 'clear-thinking' && edit.after === undefined && !isOut
    return [{ ...found, place, isOldestThinking }]
  })
}

/** The row of the last undo that undid or restored each change. */
function lastTurns(changes: readonly Change[], rowOf: (uuid: string) => number): ReadonlyMap<number, number> {
  const roots = new Map<number, number>()
  const turns = new Map<number, number>()
  for (const { row, edit } of changes) {
    const target = edit?.type === 'undo' ? rowOf(edit.uuid) : -1
    if (target < 0 || target >= row) continue
    const root = roots.get(target) ?? target
    roots.set(row, root)
    turns.set(root, row)
  }
  return turns
}

/** Kept messages have a new prefix, unless the summary follows them. */
function boundaryChange(
  found: Omit<PrefixChange, 'place'>,
  { placeOf, rows }: LiveRows,
  keptBy: Graph['kept'],
): readonly PrefixChange[] {
  const { row } = found
  // A later compaction may keep the summary, which directly follows its boundary, without the boundary.
  if (placeOf(row) < 0 && placeOf(row + 1) < 0) return []
  const kept = keptBy.get(row) ?? []
  const { boundary, uuid } = rows[row]?.head ?? {}
  const isBefore = boundary?.kept?.type === 'listed' && boundary.kept.anchor === uuid
  if (!isBefore) return [{ ...found, place: -1, ...(kept.length === 0 ? {} : { kept: new Set(kept) }) }]
  const last = kept.reduce((newest, one) => Math.max(newest, placeOf(one)), -1)
  return [{ ...found, place: last + 1 }]
}

const nowhere = Number.POSITIVE_INFINITY

/** An answer of the view: its first row, its position, and the position after it. */
type PlacedAnswer = { readonly index: number; readonly row: number; readonly place: number; readonly end: number }

/** `trusted` and `changed` of a view. */
function answersOnOtherPrefix(merged: readonly Merged[], now: AppliedChanges) {
  const found = prefixChanges(now)
  if (found.length === 0) return { trusted: undefined, changed: new Set<number>() }
  const placeOf = (at: Merged | undefined) =>
    at === undefined ? nowhere : now.live.placeOf(now.live.rowOf(at.from[0]?.uuids[0] ?? ''))
  const answers = merged.flatMap((one, index): readonly PlacedAnswer[] => {
    if (one.message.role !== 'assistant') return []
    return [{ index, row: one.from[0]?.row ?? 0, place: placeOf(one), end: placeOf(merged[index + 1]) }]
  })
  const trusted = answers.flatMap((answer) => {
    const freed = freedSince(found, answer)
    return freed === undefined ? [] : [[answer.index, freed] as const]
  })
  const voiding = found.filter(({ isOldestThinking }) => !isOldestThinking)
  const isVoid = ({ row, place }: PlacedAnswer) =>
    voiding.some((change) => change.place < place && change.above < row && row < change.below)
  return { trusted: new Map(trusted), changed: new Set(answers.filter(isVoid).map(({ index }) => index)) }
}

/** Tokens that edits have freed from its prompt since (negative if an undo brought something back), if known. */
function freedSince(changes: readonly PrefixChange[], { row, end }: PlacedAnswer): number | undefined {
  let sum = 0
  for (const { place, above, below, freed, kept, row: changed } of changes) {
    // Includes its own parts, because its usage counts an input that was cleared later.
    const isOver = place < end && above < row && (row < below || kept?.has(row) === true)
    if (!isOver) continue
    // Removed, restored, removed again: the answers in between saw one state or the other.
    if (freed === undefined || (above < 0 && row > changed)) return undefined
    sum += above < 0 ? freed : -freed
  }
  return sum
}
