// What a view's messages were made on: whether the figures reported with an answer still hold, and whether the prefix
// an answer was given on is still the one before it. Some models bind their thinking to that prefix.

import type { Edit } from '../format/edits.ts'
import type { LiveOrder } from '../tree/order.ts'
import { type Change, lastTurns, type Standing } from '../tree/standing.ts'
import type { PrefixChange } from './changed-answers.ts'
import type { Effects } from './effects.ts'
import type { MergedMessage } from './merge.ts'

export type Ground = {
  readonly order: LiveOrder
  readonly changes: readonly Change[]
  readonly standing: Standing
  readonly effects: Effects
}

/** What has been found out so far, and holds until something is said about it. */
export type Provenance = {
  /** To be told how the order went on: unchanged up to this place. */
  readonly goOn: (from: number) => void
  /** Other edits are in force, or the order is another one altogether. */
  readonly startOver: () => void
  readonly prefixChanges: () => readonly PrefixChange[]
}

export function createProvenance(ground: Ground): Provenance {
  const places = createFirstPlaces(ground)
  let length = 0
  let known: { readonly changes: number; readonly found: readonly PrefixChange[] } | undefined
  const forget = () => {
    places.clear()
    known = undefined
  }
  return {
    startOver: forget,
    goOn: (from) => {
      // Whatever was taken off the end may have come back elsewhere, boundaries too.
      if (from < length || places.isMentioned()) known = undefined
      if (from < length) places.cutTo(from)
      length = ground.order.rows().length
    },
    prefixChanges: () => {
      const { length: changes } = ground.changes
      if (known?.changes !== changes) known = { changes, found: prefixChanges(ground, places.of) }
      return known.found
    },
  }
}

/**
 * The answers whose usage still tells the size, each with the tokens that edits have freed of its prompt since; what came
 * back is less than nothing. An answer is missing where something changed its prompt and nobody knows by how much.
 */
export function trustedAnswers(
  changes: readonly PrefixChange[],
  merged: readonly MergedMessage[],
): ReadonlyMap<number, number> {
  const trusted = new Map<number, number>()
  for (const [index, { message, row }] of merged.entries()) {
    if (message.role !== 'assistant') continue
    // Its own pieces count as well: an input that was cleared is part of what it reported.
    const end = merged[index + 1]?.place ?? nowhere
    const freed = freedSince(changes, row, end)
    if (freed !== undefined) trusted.set(index, freed)
  }
  return trusted
}

function freedSince(changes: readonly PrefixChange[], row: number, end: number): number | undefined {
  let sum = 0
  for (const change of changes) {
    const { place, above, below, freed, kept } = change
    const isOver = place < end && above < row && (row < below || kept?.has(row) === true)
    if (!isOver) continue
    // Taken out, brought back, taken out again: the answers in between saw one or the other.
    if (freed === undefined || (above < 0 && row > change.row)) return undefined
    sum += above < 0 ? freed : -freed
  }
  return sum
}

type FirstPlace = (change: Change) => number | undefined

function prefixChanges({ changes, standing, order }: Ground, firstPlace: FirstPlace): readonly PrefixChange[] {
  const turns = lastTurns(changes, order.rowOf)
  return changes.flatMap((change): readonly PrefixChange[] => {
    const { row, edit } = change
    if (standing.past.has(row) || edit?.type === 'undo') return []
    const isOut = standing.out.has(row)
    const freed = edit ? edit.freed : change.freed
    const found = {
      row,
      above: isOut ? row : -1,
      below: turns.get(row) ?? row,
      ...(freed === undefined ? {} : { freed }),
    }
    // Undone, its answers stand on another prefix than they were given on; in force, those from before it do.
    if (edit === undefined) return isOut ? [{ ...found, place: -1 }] : boundaryChange(order, found)
    if (edit.type === 'rewind') return isOut ? [{ ...found, place: -1 }] : []
    const place = firstPlace(change)
    if (place === undefined) return []
    // Thinking may leave oldest first and then nothing else is touched; it may not leave a gap, nor come back.
    const isOldest = edit.type === 'clear-thinking' && edit.after === undefined && !isOut
    return [{ ...found, place, ...(isOldest ? { isOldestThinking: true } : {}) }]
  })
}

/**
 * What a compaction kept has another prefix now, wherever in the file it stands. Only where its summary comes behind the
 * kept messages have these the prefix they always had.
 */
function boundaryChange(order: LiveOrder, found: Omit<PrefixChange, 'place'>): readonly PrefixChange[] {
  const { row } = found
  // A later compaction may have kept the summary, which is written right behind its boundary, without the boundary.
  if (order.placeOf(row) === undefined && order.placeOf(row + 1) === undefined) return []
  const kept = order.keptBy(row)
  const { boundary, uuid } = order.head(row) ?? {}
  const isBefore = boundary?.kept?.type === 'listed' && boundary.kept.anchor === uuid
  if (!isBefore) return [{ ...found, place: -1, ...(kept.length === 0 ? {} : { kept: new Set(kept) }) }]
  const last = kept.reduce((most, one) => Math.max(most, order.placeOf(one) ?? -1), -1)
  return [{ ...found, place: last + 1 }]
}

const nowhere = Number.POSITIVE_INFINITY

/** By the row of an edit: the first place it touches. What is remembered is what the end of the order cannot alter. */
function createFirstPlaces(ground: Ground) {
  const { order } = ground
  const known = new Map<number, number>()
  /** The edits that touch nothing in the view, by the ids they name: what they name may still come. */
  const awaited = new Map<string, number[]>()
  let seen = 0
  const remember = ({ row, edit }: Change, place: number) => {
    if (known.size === 0) seen = order.length()
    if (place < nowhere ? isLasting(ground, row, edit) : isByName(edit)) known.set(row, place)
    if (place < nowhere || !isByName(edit)) return
    for (const id of [...edit.toolUseIds, ...((edit.type === 'clear-results' && edit.attachments) || [])]) {
      awaited.set(id, [...(awaited.get(id) ?? []), row])
    }
  }
  return {
    of: (change: Change): number | undefined => {
      const place = known.get(change.row) ?? firstPlace(ground, change)
      if (!known.has(change.row)) remember(change, place)
      return place < nowhere ? place : undefined
    },
    clear: () => {
      known.clear()
      awaited.clear()
    },
    cutTo: (from: number) => {
      for (const [row, place] of known) if (place >= from) known.delete(row)
      awaited.clear() // Those that touch nothing are among them.
    },
    /** Whether an entry has come that an edit was waiting for. */
    isMentioned: (): boolean => {
      let isFound = false
      for (; known.size > 0 && seen < order.length(); seen++) {
        const head = awaited.size === 0 ? undefined : order.head(seen)
        if (!head) continue
        for (const id of [...head.toolResults, ...head.toolUses, head.uuid ?? '']) {
          for (const row of awaited.get(id) ?? []) isFound = known.delete(row) || isFound
        }
      }
      return isFound
    },
  }
}

type ByName = Extract<Edit, { readonly type: 'clear-results' | 'clear-inputs' }>

/** Names what it touches one by one. */
function isByName(edit: Edit | undefined): edit is ByName {
  return edit?.type === 'clear-results' || edit?.type === 'clear-inputs'
}

/** A stretch in force is watched by the effects; one that is not may mean other rows whenever the order grows. */
function isLasting({ standing }: Ground, row: number, edit: Edit | undefined): boolean {
  return isByName(edit) || !standing.out.has(row)
}

/** Where the prefix is another one from. Pins change nothing. */
function firstPlace({ order, effects }: Ground, { row, edit }: Change): number {
  if (!edit || edit.type === 'pin' || edit.type === 'unpin') return nowhere
  let first = nowhere
  for (const touched of effects.touchedBy({ row, edit })) {
    if (order.isVisible(touched)) first = Math.min(first, order.placeOf(touched) ?? nowhere)
  }
  return first
}
