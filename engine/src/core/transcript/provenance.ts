// What a view's messages were made on: whether the figures reported with an answer still hold, and whether the prefix
// an answer was given on is still the one before it. Some models bind their thinking to that prefix.
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

const changesNothing: ReadonlySet<string | undefined> = new Set(['pin', 'unpin', 'rewind', 'server-cleared'])

/**
 * The first message whose usage counts. A rewind gives a view that there was, and its figures with it; everything
 * else that was done to the view makes the figures reported before it those of another view.
 */
export function staleBefore({ changes, standing, order }: Ground, { messages, rows }: MergedMessages): number {
  const last = changes.findLast(({ row, edit }) => {
    if (standing.out.has(row) || changesNothing.has(edit?.type)) return false
    return edit !== undefined || order.placeOf(row) !== undefined
  })
  if (!last) return 0
  return messages.findLastIndex(({ role }, at) => role === 'assistant' && (rows[at] ?? 0) < last.row) + 1
}

/**
 * Tokens that edits freed since the newest answer; undefined when nothing was done since, or something whose weight
 * nobody knows: then its usage is that of another view.
 */
export function freedSince({ changes, standing }: Ground, { messages, rows }: MergedMessages): number | undefined {
  const answer = rows[messages.findLastIndex(({ role }) => role === 'assistant')]
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

/** The prefix was changed at a place, for the answers that stand between two rows of the transcript. */
type PrefixChange = { readonly place: number; readonly above: number; readonly below: number }

export function changedPrefixes(ground: Ground, { messages, rows }: MergedMessages): ReadonlySet<number> {
  const found = new Set<number>()
  const all = prefixChanges(ground)
  if (all.length === 0) return found
  const lasting = all.filter(({ above }) => above < 0).toSorted((a, b) => a.place - b.place)
  const undone = all.filter(({ above }) => above >= 0)
  let next = 0
  let below = -1
  for (const [index, { role }] of messages.entries()) {
    if (role !== 'assistant') continue
    const row = rows[index] ?? -1
    const place = ground.order.placeOf(row) ?? -1
    for (let change = lasting[next]; change && change.place < place; change = lasting[++next]) {
      below = Math.max(below, change.below)
    }
    const isIn = (change: PrefixChange) => change.place < place && change.above < row && row < change.below
    if (row < below || undone.some(isIn)) found.add(index)
  }
  return found
}

function prefixChanges(ground: Ground): readonly PrefixChange[] {
  const { changes, standing, order } = ground
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
    const place = firstPlace(ground, change)
    return place === undefined ? [] : [{ place, above, below }]
  })
}

/** Taking thinking out, and pins, leave what other thinking is bound to as it was. */
function firstPlace({ order, effects }: Ground, { row, uuid, edit }: Change): number | undefined {
  if (!edit || edit.type === 'pin' || edit.type === 'unpin' || edit.type === 'clear-thinking') return undefined
  let first: number | undefined
  for (const touched of effects.touchedBy({ row, uuid, edit })) {
    const place = order.placeOf(touched)
    if (place !== undefined && (first === undefined || place < first)) first = place
  }
  return first
}
