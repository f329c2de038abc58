// Whether a part of a transcript, from some entry to its end, folds to the same view as the whole of it.
import { endsOf, readEdit } from '../format/edits.ts'
import type { Entry } from '../format/entry.ts'

/**
 * Expects the entries to hold the whole live window. An undo or a rewind may bring back what lies before them, and an
 * edit of a range must know both of its ends.
 */
export function isSelfContained(entries: readonly Entry[]): boolean {
  const edits = entries.flatMap(({ record }) => readEdit(record) ?? [])
  if (edits.some(({ type }) => type === 'undo' || type === 'rewind')) return false
  const ends = edits.flatMap(endsOf)
  if (ends.length === 0) return true
  const known = new Set(entries.map(({ record }) => record.uuid))
  return ends.every((uuid) => known.has(uuid))
}
