// The answers of a view that were given on another prefix than the one before them now. Some models bind their thinking
// to that prefix; whoever asks view by view gets the same set while nothing changes.
import { createIndexSet } from '../tree/index-set.ts'
import type { MergedMessage } from './merge.ts'

/** The prefix was changed at a place, for the answers that stand between two rows of the transcript. */
export type PrefixChange = {
  readonly place: number
  readonly above: number
  readonly below: number
  /** Of the change itself. */
  readonly row: number
  /** Tokens, where whoever made it says so. */
  readonly freed?: number
  /** Rows that a compaction kept behind its summary; they may be written after it. */
  readonly kept?: ReadonlySet<number>
  /** Only thinking went, oldest first: it voids no other thinking. */
  readonly isOldestThinking?: boolean
}

type ChangedAnswers = (changes: readonly PrefixChange[], merged: () => readonly MergedMessage[]) => ReadonlySet<number>

export function createChangedAnswers(): ChangedAnswers {
  const indices = createIndexSet(changedFrom)
  const none: ReadonlySet<number> = new Set()
  return (changes, merged) => (changes.length === 0 ? none : indices(merged(), changes))
}

function changedFrom(
  merged: readonly MergedMessage[],
  from: number,
  changes: readonly PrefixChange[],
): readonly number[] {
  const found: number[] = []
  const voiding = changes.filter(({ isOldestThinking }) => !isOldestThinking)
  const lasting = voiding.filter(({ above }) => above < 0).toSorted((a, b) => a.place - b.place)
  const undone = voiding.filter(({ above }) => above >= 0)
  let next = 0
  let below = -1
  for (let index = from; index < merged.length; index++) {
    const { message, row = 0, place = 0 } = merged[index] ?? {}
    if (message?.role !== 'assistant') continue
    for (let change = lasting[next]; change && change.place < place; change = lasting[++next]) {
      below = Math.max(below, change.below)
    }
    const isIn = (change: PrefixChange) => change.place < place && change.above < row && row < change.below
    if (row < below || (undone.length > 0 && undone.some(isIn))) found.push(index)
  }
  return found
}
