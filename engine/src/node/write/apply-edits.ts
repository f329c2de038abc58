// Appends edits to a transcript on disk: takes the lease, stores the cleared results next to the session, then writes
// all edits at once. A failure before that write leaves the transcript unchanged.
import type { Transcript } from '../../core/session/transcript.ts'
import { type Edit, editRecords } from '../../core/transcript/format/edits.ts'
import { type LeaseOptions, nodeLeasePorts } from '../lease/lease.ts'
import { type StoredResults, storeResults, type ToolResult } from './keep-results.ts'
import { heldMessage, openWriter, whyNotAppended } from './writer.ts'

export type ApplyOptions = LeaseOptions & {
  readonly now: number
  /** Results that the edits clear, to be stored first. */
  readonly results?: readonly ToolResult[]
}

export type AppliedEdits =
  | {
      readonly type: 'applied'
      /** One per edit, for undo. */
      readonly uuids: readonly string[]
      readonly bytes: number
      readonly stored: Extract<StoredResults, { readonly type: 'stored' }>
    }
  | { readonly type: 'not-applied'; readonly why: string }

/** The edits' parent is the entry that was newest when the file was read; an edit applies wherever it is attached. */
export async function applyEdits(
  file: Transcript,
  edits: readonly Edit[],
  { now, results = [], ...lease }: ApplyOptions,
): Promise<AppliedEdits> {
  if (file.format !== 'claude-code') {
    return notApplied(`${file.path} is a session of another agent (${file.format}) and cannot be edited.`)
  }
  const opened = await openWriter(file.path, { ...lease, knows: (uuid) => file.entry(uuid) !== undefined })
  if (opened.type === 'held') return notApplied(heldMessage(file.path, opened.by))
  if (opened.type === 'open-failed') return notApplied(opened.message)
  const { writer } = opened
  try {
    const stored = storeResults(file.path, results)
    if (stored.type === 'store-failed') return notApplied(stored.message)
    const { newId } = { ...nodeLeasePorts, ...lease.ports }
    const uuids = edits.map(() => newId())
    const timestamp = new Date(now).toISOString()
    const appended = writer.appendAll(editRecords(edits, { ...file.place, uuids, timestamp }))
    if (appended.type !== 'appended') return notApplied(whyNotAppended(appended))
    return { type: 'applied', uuids, bytes: appended.bytes, stored }
  } finally {
    writer.close()
  }
}

function notApplied(why: string): AppliedEdits {
  return { type: 'not-applied', why }
}
