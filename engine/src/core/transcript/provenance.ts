// What a view's messages were made on: whether the figures reported with an answer still hold, and whether the prefix
// an answer was given on is still the one before it. Some models bind their thinking to that prefix.
import type { PrefixChange } from './changed-answers.ts'
import type { Edit } from './edits.ts'
import type { Effects } from './effects.ts'
import type { LiveOrder } from './order.ts'
import type { MergedMessages } from './rounds-of-rows.ts'
import { type Change, lastTurns, type Standing } from './standing.ts'

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
  /** The first message whose usage counts. */
  readonly staleBefore: (merged: MergedMessages) => number
  readonly prefixChanges: () => readonly PrefixChange[]
}

/**
 * Tokens that edits freed since the newest answer; undefined when nothing was done since, or something whose weight
 * nobody knows: then its usage is that of another view.
 */
export function freedSince({ changes, standing }: Ground, lists: MergedMessages): number | undefined {
  const answer = lists.merged.at(lastAnswerBefore(Number.POSITIVE_INFINITY, lists, 0))?.row
  if (answer === undefined) return undefined
  let freed: number | undefined
  for (let at = changes.length - 1; at >= 0; at--) {
    const change = changes[at]
    if (!change || change.row < answer) break
    const { edit } = change
    if (edit?.type === 'pin' || edit?.type === 'unpin' || edit?.type === 'server-cleared') continue
    if (edit?.freed === undefined || standing.out.has(change.row)) return undefined
    freed = (freed ?? 0) + edit.freed
  }
  return freed
}

export function createProvenance(ground: Ground): Provenance {
  const places = createFirstPlaces(ground)
  let stale = { row: -1, index: 0 }
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
    staleBefore: (merged) => {
      const from = merged.takeChange()
      const row = lastChange(ground)?.row ?? -1
      const start = row !== stale.row || from < stale.index ? 0 : from
      const found = row < 0 ? 0 : lastAnswerBefore(row, merged, start) + 1
      stale = { row, index: found > 0 || start === 0 ? found : stale.index }
      return stale.index
    },
    prefixChanges: () => {
      const { length: changes } = ground.changes
      if (known?.changes !== changes) known = { changes, found: prefixChanges(ground, places.of) }
      return known.found
    },
  }
}

const changesNothing: ReadonlySet<string | undefined> = new Set(['pin', 'unpin', 'rewind', 'server-cleared'])

/**
 * The newest change that made the figures reported before it those of another view. A rewind gives a view that there
 * was, and its figures with it; so does an undo of something that no answer has seen.
 */
function lastChange({ changes, standing, order }: Ground): Change | undefined {
  return changes.findLast(({ row, edit }) => {
    if (standing.out.has(row) || changesNothing.has(edit?.type)) return false
    if (edit?.type === 'undo' && !hasAnswer(order, { above: order.rowOf(edit.uuid), below: row })) return false
    return edit !== undefined || order.placeOf(row) !== undefined
  })
}

function hasAnswer(order: LiveOrder, { above, below }: { readonly above: number; readonly below: number }): boolean {
  for (let row = below - 1; row > above; row--) if (order.head(row)?.type === 'assistant') return true
  return false
}

/** Among the messages from `start` on; -1 when there is none. */
function lastAnswerBefore(row: number, { merged }: MergedMessages, start: number): number {
  for (let at = merged.length() - 1; at >= start; at--) {
    const made = merged.at(at)
    if (made?.message.role === 'assistant' && made.row < row) return at
  }
  return -1
}

type FirstPlace = (change: Change) => number | undefined

function prefixChanges({ changes, standing, order }: Ground, firstPlace: FirstPlace): readonly PrefixChange[] {
  const turns = lastTurns(changes, order.rowOf)
  return changes.flatMap((change): readonly PrefixChange[] => {
    const { row, edit } = change
    if (standing.past.has(row) || edit?.type === 'undo') return []
    const isOut = standing.out.has(row)
    const turn = turns.get(row)
    const above = isOut ? row : -1
    const below = turn ?? row
    // Undone, its answers stand on another prefix than they were given on; in force, those from before it do.
    if (edit === undefined) return isOut || order.placeOf(row) !== undefined ? [{ place: -1, above, below }] : []
    if (edit.type === 'rewind') return isOut ? [{ place: -1, above, below }] : []
    // Thinking may leave oldest first and then nothing else is touched; it may not leave a gap, nor come back.
    if (edit.type === 'clear-thinking' && edit.after === undefined && !isOut) return []
    const place = firstPlace(change)
    return place === undefined ? [] : [{ place, above, below }]
  })
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
    first = Math.min(first, order.placeOf(touched) ?? nowhere)
  }
  return first
}
