// Which entries a conversation holds in memory: those of the view, and those since the boundary before the last one.
// What is let go stays in the store.
import { readEdit } from '../transcript/format/edits.ts'
import { type Entry, headOf } from '../transcript/format/entry.ts'
import { isSelfContained } from '../transcript/tree/self-contained.ts'
import type { View } from '../transcript/view/fold.ts'

/** `view` is that of the moment before the newest boundary was appended. */
export function trimmed(entries: readonly Entry[], view: View): readonly Entry[] {
  const boundaries = entries.flatMap((entry, at) => (headOf(entry).boundary ? [at] : []))
  const from = boundaries.at(-2)
  if (from === undefined) return entries
  const wanted = new Set<string>(view.sources.flatMap(({ uuids, edits }) => [...uuids, ...edits]))
  const left = entries.filter(({ record }, at) => at >= from || wanted.has(String(record.uuid)) || isPin(record))
  return isSelfContained(left) ? left : entries
}

function isPin(record: Entry['record']): boolean {
  const type = readEdit(record)?.type
  return type === 'pin' || type === 'unpin'
}
