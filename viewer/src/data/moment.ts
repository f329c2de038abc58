// The start and end of a compaction's records in a transcript.
import type { Entry } from 'everlong'
import { type JsonObject, messageOf, readBoundary } from 'everlong/internal'

/** Indexes of entries: the boundary, and the first entry after the compaction's records. */
export type Moment = { readonly start: number; readonly end: number }

export function momentOf(
  entries: readonly Entry[],
  { uuid, line }: { readonly uuid: string; readonly line: number },
): Moment {
  const start = entries.findIndex(
    ({ record, position }) =>
      position.line === line && (record.uuid ?? '') === uuid && readBoundary(record) !== undefined,
  )
  if (start < 0) return { start: entries.length, end: entries.length }
  const isKept = keptAfter(entries[start]?.record ?? {})
  const after = entries.findIndex(({ record }, at) => at > start && !isKept(record) && isSaid(record))
  return { start, end: after < 0 ? entries.length : after }
}

/** The conversation continued: the user, the agent, or the next compaction. */
function isSaid(record: JsonObject): boolean {
  const origin = record.isSidechain === true ? undefined : messageOf(record)?.origin
  return origin === 'human' || origin === 'assistant' || readBoundary(record) !== undefined
}

/** Some clients write kept messages again after the summary. Call it with each record after the boundary. */
function keptAfter(boundary: JsonObject): (record: JsonObject) => boolean {
  const kept = readBoundary(boundary)?.kept
  if (kept?.type === 'listed') {
    const uuids = new Set<unknown>(kept.uuids)
    return ({ uuid }) => uuids.has(uuid)
  }
  if (kept?.type !== 'segment') return () => false
  let isInside = false
  return ({ uuid }) => {
    if (uuid === kept.head) isInside = true
    const isOne = isInside
    if (uuid === kept.tail) isInside = false
    return isOne
  }
}
