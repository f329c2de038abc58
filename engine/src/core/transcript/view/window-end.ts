// The end of a live window. Entries that only continue its chain leave everything before them as it was, so a view can be
// extended by them. Whatever could change an earlier part of the view is refused, and the view is folded again.
import { readCompaction } from '../format/compaction-records.ts'
import type { Head } from '../format/entry.ts'
import type { Change } from '../tree/changes.ts'
import { isVisibleAt, typeAt } from '../tree/graph.ts'
import type { HeadTree, LiveOrder } from '../tree/live.ts'
import type { Row } from './pieces.ts'

export type Transcript = { readonly rows: Row[]; readonly tree: HeadTree; readonly changes: Change[] }

/** The state at the end of a window, before anything after its newest message is shown. */
export type WindowEnd = {
  /** The newest entry of the chain. */
  readonly tip: number
  /** Entries of the chain after the newest message. They join the window with the next message. */
  readonly waiting: readonly number[]
  readonly isSidechain: boolean
  /** The id of the newest answer in the window, which may get more pieces. */
  readonly answer: string | undefined
  /** Ids that edits, boundaries and orphans refer to. An entry that has one of them may change what is before it. */
  readonly named: ReadonlySet<string>
  readonly changes: number
}

/** Undefined if any next entry may change earlier messages. */
export function windowEnd(transcript: Transcript, { order, graph, leaf }: LiveOrder): WindowEnd | undefined {
  const { rows, tree, changes } = transcript
  const { heads, table, boundaries } = tree
  // A result without a known answer is shown last, so the next entry comes before it.
  if (leaf === undefined || order.at(-1) !== leaf) return undefined
  // The window may start at this boundary as soon as a message follows it.
  if ((boundaries.at(-1)?.row ?? -1) > leaf) return undefined
  const isSidechain = heads[leaf]?.sidechain === true
  const named = namedIn(transcript)
  const waiting: number[] = []
  let tip = leaf
  for (let row = leaf + 1; row < rows.length; row++) {
    const head = heads[row] as Head
    if (typeAt(table, row) === '' || head.sidechain !== isSidechain || graph.parents[row] !== tip) continue
    if (head.toolResults.length > 0 || named.has(head.uuid ?? '')) return undefined
    waiting.push(row)
    tip = row
  }
  const answer = heads[order.findLast((row) => heads[row]?.messageId !== undefined) ?? -1]?.messageId
  return { tip, waiting, isSidechain, answer, named, changes: changes.length }
}

function namedIn({ rows, tree, changes }: Transcript): ReadonlySet<string> {
  const named = new Set<unknown>(tree.table.pending.values())
  for (const { row, edit } of changes) {
    // Collects all strings of an edit, so that a new field needs no change here. Texts among them do no harm.
    for (const value of Object.values(edit ?? {}).flat()) named.add(value)
    if (edit) continue
    const { head, entry } = rows[row] as Row
    for (const value of Object.values(head.boundary?.kept ?? {}).flat()) named.add(value)
    named.add(readCompaction(entry.record).last)
  }
  return named as ReadonlySet<string>
}

/** The ids of results and answers in all branches of a transcript. Read on first use. */
export type SeenIds = { readonly results: Set<string>; readonly answers: Set<string>; rows: number }

export function noIdsSeen(): SeenIds {
  return { results: new Set(), answers: new Set(), rows: 0 }
}

export type Continued = {
  /** The rows that follow the window, in order. */
  readonly added: readonly number[]
  readonly end: WindowEnd
}

/** Extends a window by the rows from `first` on. Returns undefined if they may change earlier messages. */
export function continuedWindow(
  transcript: Transcript,
  before: WindowEnd,
  { first, seen }: { readonly first: number; readonly seen: SeenIds },
): Continued | undefined {
  const { rows, tree, changes } = transcript
  if (changes.length !== before.changes) return undefined
  noteIds(seen, tree.heads, first)
  const added: number[] = []
  let end = before
  for (let row = first; row < rows.length; row++) {
    const how = placeAfter(transcript, { row, end, seen })
    if (how === 'unknown') return undefined
    noteIds(seen, tree.heads, row + 1)
    if (how === 'beside') continue
    const isShown = isVisibleAt(tree.table, row)
    const waiting = [...end.waiting, row]
    if (isShown) added.push(...waiting)
    end = { ...end, tip: row, waiting: isShown ? [] : waiting, answer: tree.heads[row]?.messageId ?? end.answer }
  }
  return { added, end }
}

function noteIds(seen: SeenIds, heads: readonly Head[], end: number): void {
  for (; seen.rows < end; seen.rows++) {
    const { messageId, toolResults } = heads[seen.rows] as Head
    if (messageId !== undefined) seen.answers.add(messageId)
    for (const id of toolResults) seen.results.add(id)
  }
}

type Placing = { readonly row: number; readonly end: WindowEnd; readonly seen: SeenIds }

/** `beside`: the entry has no place in the window and changes nothing there. */
function placeAfter({ tree }: Transcript, { row, end, seen }: Placing): 'next' | 'beside' | 'unknown' {
  const { heads, table } = tree
  const { uuid, sidechain, messageId, toolUses, toolResults } = heads[row] as Head
  if (uuid === undefined) return 'beside'
  const isNamed = [uuid, ...toolUses, ...toolResults].some((id) => end.named.has(id))
  if (isNamed || table.duplicates.at(-1) === row) return 'unknown'
  // Messages of sub-agents count only in files without other messages.
  if (sidechain !== end.isSidechain) return sidechain ? 'beside' : 'unknown'
  const isPart = isVisibleAt(table, row) || toolResults.length > 0
  if (table.parents[row] !== end.tip) return isPart ? 'unknown' : 'beside'
  // A branch may have a part of the same answer, or a result of the same call.
  if (messageId !== undefined && messageId !== end.answer && seen.answers.has(messageId)) return 'unknown'
  return [...toolUses, ...toolResults].some((id) => seen.results.has(id)) ? 'unknown' : 'next'
}
