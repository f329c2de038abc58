// Which entries a conversation holds in memory: those of the view, and those since the boundary before the last one, so
// that the last compaction can be undone. What is let go stays in the store.
import { type Edit, readEdit } from '../transcript/edits.ts'
import { type Entry, headOf } from '../transcript/entry.ts'
import type { View } from '../transcript/fold.ts'
import { type Change, standingOf } from '../transcript/standing.ts'

/** `view` is that of the moment before the newest boundary was appended. */
export function trimmed(entries: readonly Entry[], view: View): readonly Entry[] {
  const boundaries = entries.flatMap((entry, at) => (headOf(entry).boundary ? [at] : []))
  const from = boundaries.at(-2)
  if (from === undefined) return entries
  const bends = entries.slice(from).some(({ record }) => bendsTree(readEdit(record)))
  if (bends) return entries
  const wanted = new Set<string>(view.sources.flatMap(({ uuids, edits }) => [...uuids, ...edits]))
  return entries.filter(({ record }, at) => at >= from || wanted.has(String(record.uuid)) || isPin(readEdit(record)))
}

/** An undo or a rewind may refer to what lies before. */
function bendsTree(edit: Edit | undefined): boolean {
  return edit?.type === 'undo' || edit?.type === 'rewind'
}

function isPin(edit: Edit | undefined): boolean {
  return edit?.type === 'pin' || edit?.type === 'unpin'
}

export type Undoable = { readonly uuid: string; readonly type: Edit['type'] | 'compaction' }

const notUndoable: ReadonlySet<string | undefined> = new Set(['undo', 'pin', 'unpin', 'server-cleared'])

/** What `undo` takes back: the newest edit or compaction that is in force. */
export function newestChange(entries: readonly Entry[]): Undoable | undefined {
  const rows = new Map<string, number>()
  const changes: Change[] = []
  for (const [row, entry] of entries.entries()) {
    const { uuid } = entry.record
    if (typeof uuid !== 'string') continue
    rows.set(uuid, row)
    const edit = readEdit(entry.record)
    if (edit || headOf(entry).boundary) changes.push({ row, uuid, edit })
  }
  const { out } = standingOf(changes, (uuid) => rows.get(uuid) ?? -1)
  const found = changes.findLast(({ row, edit }) => !out.has(row) && !notUndoable.has(edit?.type))
  return found && { uuid: found.uuid, type: found.edit?.type ?? 'compaction' }
}
