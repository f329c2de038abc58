// The fold: entries and edits become the view, which is what the next request would carry, with the source of every
// message. It always folds the whole transcript, so the same transcript gives the same bytes; it changes no entry.
import type { ViewMessage } from '../../message/message.ts'
import { readCompaction } from '../format/compaction-records.ts'
import type { Edit } from '../format/edits.ts'
import { type Entry, readHead } from '../format/entry.ts'
import { type Change, changeAt, type Standing, standingOf } from '../tree/changes.ts'
import { isVisibleAt, rowOf } from '../tree/entry-table.ts'
import { addHeadToTree, createHeadTree, type HeadTree, liveOrder } from '../tree/live.ts'
import { type EditAt, type Effects, effectsOf, type LiveRows, targetsOf } from './effects.ts'
import { mergePieces, type Source, type ViewPiece } from './merge.ts'
import { type Row, viewPieces } from './pieces.ts'
import { answersOnOtherPrefix } from './prefix-changes.ts'

/** Immutable. A message that did not change is the same object in every view. */
export type View = {
  readonly messages: readonly ViewMessage[]
  readonly sources: readonly Source[]
  /** In force, in the order of the transcript. */
  readonly edits: readonly { readonly uuid: string; readonly edit: Edit }[]
  readonly pins: readonly string[]
  /** Answers whose usage still gives the size, with the tokens freed since then. Absent while nothing has changed. */
  readonly trusted?: ReadonlyMap<number, number> | undefined
  /** The newest change that names the size before it. */
  readonly reduced?: Reduction | undefined
  /** Answers whose prefix has changed since. Their signed thinking is no longer valid. */
  readonly changed: ReadonlySet<number>
}

export type Reduction = {
  /** Tokens of the context before it, and after it if it names them: tokens of this model. */
  readonly before: number
  readonly after?: number | undefined
  readonly model?: string | undefined
  /** The entries that the view showed right after it. */
  readonly uuids: ReadonlySet<string>
}

export type Fold = {
  /** Cheap: the view is computed on the next call of `view`. */
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
  let current: View | undefined
  return {
    add: (entry) => {
      addEntry(transcript, entry)
      current = undefined
    },
    view: () => {
      current ??= viewOf(transcript)
      return current
    },
    entry: (uuid) => transcript.rows[rowOf(transcript.tree.table, uuid)]?.entry,
  }
}

type Transcript = { readonly rows: Row[]; readonly tree: HeadTree; readonly changes: Change[] }

function addEntry({ rows, tree, changes }: Transcript, entry: Entry): void {
  const head = readHead(entry)
  rows.push({ entry, head, message: undefined, piece: undefined })
  const row = addHeadToTree(tree, head)
  const change = tree.table.duplicates.at(-1) === row ? undefined : changeAt(row, entry.record, head)
  if (change) changes.push(change)
}

function viewOf(transcript: Transcript): View {
  const { rows, tree, changes } = transcript
  const standing = standingOf(changes, (uuid) => rowOf(tree.table, uuid))
  const isLeaf = (row: number) => isVisibleAt(tree.table, row) || standing.rewinds.has(row)
  const { order, graph } = liveOrder(tree, isLeaf, standing)
  const live = liveRows(transcript, order)
  const edits = editsInForce(changes, standing)
  const targets = targetsOf(changes, live)
  const effects = effectsOf(edits, live, targets)
  const undone = tree.boundaries.filter(({ row }) => standing.out.has(row))
  const pieces = viewPieces(rows, { live, effects, undone })
  const merged = mergePieces(pieces)
  return {
    messages: merged.map(({ message }) => message),
    sources: merged.map(({ source }) => source),
    edits: edits.map(({ uuid, edit }) => ({ uuid, edit })),
    pins: pinsOf(edits, effects),
    ...answersOnOtherPrefix(merged, { changes, standing, live, kept: graph.kept, targets }),
    reduced: reducedBy(
      changes.filter(({ row }) => !standing.out.has(row)),
      live,
      pieces,
    ),
  }
}

function liveRows({ rows, tree }: Transcript, order: readonly number[]): LiveRows {
  const { table } = tree
  const places = new Int32Array(rows.length)
  for (const [place, row] of order.entries()) places[row] = place + 1
  return {
    rows,
    order,
    placeOf: (row) => (places[row] ?? 0) - 1,
    rowOf: (uuid) => rowOf(table, uuid),
    isVisible: (row) => isVisibleAt(table, row),
  }
}

function editsInForce(changes: readonly Change[], { out }: Standing): readonly EditAt[] {
  const boundary = changes.findLast(({ row, edit }) => !edit && !out.has(row))?.row ?? -1
  return changes.filter((change): change is EditAt => {
    const { row, edit } = change
    if (!edit || edit.type === 'undo' || edit.type === 'rewind' || out.has(row)) return false
    // A later summary replaced the history that the server hid parts of, so nothing is hidden any more.
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
