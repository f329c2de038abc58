// Appends edits to a transcript on disk: the lease first, then the originals beside the session, then all edits in one
// write. Whatever fails before that write leaves the transcript as it was.
import { type Edit, editRecords } from '../../core/transcript/format/edits.ts'
import { type LeaseOptions, nodeLeasePorts } from '../lease/lease.ts'
import type { ViewFile } from '../read/view-file.ts'
import { type StoredResults, storeResults, type ToolResult } from './stored-results.ts'
import { type AppendResult, openWriter } from './writer.ts'

export type ApplyOptions = LeaseOptions & {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Results that the edits clear, to be put beside the session first. */
  readonly results?: readonly ToolResult[]
}

export type AppliedEdits =
  | {
      readonly type: 'applied'
      /** One for each edit: what an undo names. */
      readonly uuids: readonly string[]
      readonly bytes: number
      readonly stored: Extract<StoredResults, { readonly type: 'stored' }>
    }
  | { readonly type: 'not-applied'; readonly why: string }

/** The edits hang on what was the newest entry when the file was read; an edit is in force wherever it hangs. */
export async function applyEdits(
  file: ViewFile,
  edits: readonly Edit[],
  { now, results = [], ...lease }: ApplyOptions,
): Promise<AppliedEdits> {
  if (file.format !== 'claude-code') {
    return notApplied(`${file.path} is a session of another agent (${file.format}), and edits are not written there.`)
  }
  const opened = await openWriter(file.path, { ...lease, knows: (uuid) => file.entry(uuid) !== undefined })
  if (opened.type === 'held') {
    const { owner, pid, host, since } = opened.by
    return notApplied(`${file.path} is being written by ${owner} (process ${pid} on ${host}, since ${since}).`)
  }
  if (opened.type === 'open-failed') return notApplied(opened.message)
  const { writer } = opened
  try {
    const stored = storeResults(file.path, results)
    if (stored.type === 'store-failed') return notApplied(stored.message)
    const { newId } = { ...nodeLeasePorts, ...lease.ports }
    const uuids = edits.map(() => newId())
    const timestamp = new Date(now).toISOString()
    const appended = writer.appendAll(editRecords(edits, { ...file.place, uuids, timestamp }))
    if (appended.type !== 'appended') return notApplied(whyNot(appended))
    return { type: 'applied', uuids, bytes: appended.bytes, stored }
  } finally {
    writer.close()
  }
}

function notApplied(why: string): AppliedEdits {
  return { type: 'not-applied', why }
}

function whyNot(result: Exclude<AppendResult, { readonly type: 'appended' }>): string {
  switch (result.type) {
    case 'refused':
      return result.problem.message
    case 'lease-lost':
      return 'The right to write the session was lost to somebody else in the meantime. Try again.'
    case 'write-failed':
    case 'sync-failed':
      return result.message
  }
}
