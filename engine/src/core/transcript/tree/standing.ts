// Which edits and compactions are in force. An undo takes one out, an undo of that undo brings it back, and a rewind takes
// out everything that was written after the point it goes back to.
import type { Edit } from '../format/edits.ts'

/** An edit, or a compaction's boundary (which has none), by its row in the transcript. */
export type Change = {
  readonly row: number
  readonly uuid: string
  readonly edit: Edit | undefined
  readonly freed?: number | undefined
}

export type Standing = {
  /** Rows of the changes that are not in force. */
  readonly out: ReadonlySet<number>
  /** Those that a rewind went back past. */
  readonly past: ReadonlySet<number>
  /** Rewinds in force: their row, and the row they go back to. */
  readonly rewinds: ReadonlyMap<number, number>
}

export const nothingUndone: Standing = { out: new Set(), past: new Set(), rewinds: new Map() }

/** From the newest to the oldest: a change refers only to what lies before it. */
export function standingOf(changes: readonly Change[], rowOf: (uuid: string) => number): Standing {
  const undone = new Set<number>()
  const past = new Set<number>()
  const out = new Set<number>()
  const rewinds = new Map<number, number>()
  let limit = Number.POSITIVE_INFINITY
  for (const { row, edit } of changes.toReversed()) {
    if (row > limit) past.add(row)
    if (row > limit || undone.has(row)) {
      out.add(row)
      continue
    }
    if (edit?.type === 'undo') {
      const target = rowOf(edit.uuid)
      if (target >= 0 && target < row) undone.add(target)
    } else if (edit?.type === 'rewind') {
      const target = rowOf(edit.to)
      if (target < 0 || target >= row) continue
      rewinds.set(row, target)
      limit = target
    }
  }
  return { out, past, rewinds }
}
