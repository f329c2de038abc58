// What an undo takes back: the newest action in force. An action is a compaction, or all edits that were written together.
// And what a rewind takes back: every entry after the one it goes back to.
import { actionOf, type Edit, endsOf, readEdit } from '../format/edits.ts'
import { type Entry, headOf } from '../format/entry.ts'
import { type Change, standingOf } from '../tree/standing.ts'

export type Undoable = {
  readonly uuid: string
  readonly type: Edit['type'] | 'compaction'
  readonly mechanism?: string
}

/** A pin is taken back by unpinning, and `server-cleared` is only a report. */
const notUndoable: ReadonlySet<string | undefined> = new Set(['undo', 'pin', 'unpin', 'server-cleared'])

/** The parts of that action, oldest first; none when nothing is in force. */
export function lastAction(entries: readonly Entry[]): readonly Undoable[] {
  const { changes, rowOf } = changesIn(entries)
  const { out } = standingOf(changes, rowOf)
  const inForce = changes.filter(({ row, edit }) => !out.has(row) && !notUndoable.has(edit?.type))
  const newest = inForce.at(-1)
  return inForce
    .filter(({ action }) => action === newest?.action)
    .map(({ uuid, edit }) => ({
      uuid,
      type: edit?.type ?? 'compaction',
      ...(edit?.mechanism === undefined ? {} : { mechanism: edit.mechanism }),
    }))
}

/** The entries that no rewind in force went back past. */
export function withoutRewound(entries: readonly Entry[]): readonly Entry[] {
  const { changes, rowOf } = changesIn(entries)
  const rewinds = [...standingOf(changes, rowOf).rewinds]
  return entries.filter((_, row) => !rewinds.some(([from, to]) => row > to && row < from))
}

type ActionChange = Change & { readonly action: string | undefined }

function changesIn(entries: readonly Entry[]) {
  const rows = new Map<string, number>()
  const changes: ActionChange[] = []
  for (const [row, entry] of entries.entries()) {
    const { uuid } = entry.record
    if (typeof uuid !== 'string' || rows.has(uuid)) continue
    rows.set(uuid, row)
    const edit = readEdit(entry.record)
    if (edit || headOf(entry).boundary) changes.push({ row, uuid, edit, action: actionOf(entry.record) })
  }
  return { changes, rowOf: (uuid: string) => rows.get(uuid) ?? -1 }
}

/**
 * Whether the end of a transcript, which holds the whole live window, folds to the same view as all of it. An undo or a
 * rewind may bring back what lies before, and an edit of a range must know both of its ends.
 */
export function isSelfContained(entries: readonly Entry[]): boolean {
  const edits = entries.flatMap(({ record }) => readEdit(record) ?? [])
  if (edits.some(({ type }) => type === 'undo' || type === 'rewind')) return false
  const ends = edits.flatMap(endsOf)
  if (ends.length === 0) return true
  const known = new Set(entries.map(({ record }) => record.uuid))
  return ends.every((uuid) => known.has(uuid))
}
