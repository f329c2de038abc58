// What an undo takes back: the newest action in force. An action is a compaction, or all edits that were written together.
import { actionOf, type Edit, readEdit } from '../format/edits.ts'
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
  const rows = new Map<string, number>()
  const changes: (Change & { readonly action: string | undefined })[] = []
  for (const [row, entry] of entries.entries()) {
    const { uuid } = entry.record
    if (typeof uuid !== 'string' || rows.has(uuid)) continue
    rows.set(uuid, row)
    const edit = readEdit(entry.record)
    if (edit || headOf(entry).boundary) changes.push({ row, uuid, edit, action: actionOf(entry.record) })
  }
  const { out } = standingOf(changes, (uuid) => rows.get(uuid) ?? -1)
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
