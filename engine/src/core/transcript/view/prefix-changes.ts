// Finds where edits and compactions changed the prefix of earlier answers, to decide whether the usage of an answer still gives
// the size of the context, and whether its thinking still fits the messages before it.
import type { Change, Standing } from '../tree/changes.ts'
import type { Graph } from '../tree/graph.ts'
import type { LiveRows, Targets } from './effects.ts'
import type { Merged } from './merge.ts'

type Changed = {
  readonly changes: readonly Change[]
  readonly standing: Standing
  readonly live: LiveRows
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

function prefixChanges({ changes, standing, live, kept, targets }: Changed): readonly PrefixChange[] {
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
    const place = (targets.get(row) ?? []).reduce((least, { row }) => Math.min(least, live.placeOf(row)), nowhere)
    if (place === nowhere) return []
    // Thinking may be removed oldest first. It may not leave a gap or come back.
    const isOldestThinking = edit.type === 'clear-thinking' && edit.after === undefined && !isOut
    return [{ ...found, place, isOldestThinking }]
  })
}

/** For each change that was ever undone or brought back: the row of the last undo that did so. */
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
  const last = kept.reduce((most, one) => Math.max(most, placeOf(one)), -1)
  return [{ ...found, place: last + 1 }]
}

const nowhere = Number.POSITIVE_INFINITY

/** An answer of the view: its first row, its position, and the position after it. */
type PlacedAnswer = { readonly index: number; readonly row: number; readonly place: number; readonly end: number }

/** `trusted` and `changed` of a view. */
export function answersOnOtherPrefix(merged: readonly Merged[], now: Changed) {
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
    // Its own pieces count too: its usage includes an input that was cleared later.
    const isOver = place < end && above < row && (row < below || kept?.has(row) === true)
    if (!isOver) continue
    // Removed, restored, removed again: the answers in between saw one state or the other.
    if (freed === undefined || (above < 0 && row > changed)) return undefined
    sum += above < 0 ? freed : -freed
  }
  return sum
}
