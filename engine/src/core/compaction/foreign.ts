// A compaction as a record of another agent's session. Such an agent stores one text, so what was restored and the latest
// request go into it after the summary.
import { type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { wellFormed } from '../text/cut.ts'
import { neutralizePiece } from '../text/neutralize.ts'
import type { Compaction } from './job.ts'

/** The whole new context but for the kept messages, as one text. */
function contextText({ summary, records, contextAfter }: Compaction): string {
  // After boundary and summary: what was restored, what hooks said, and the latest request.
  const after = records.slice(2)
  const pieces = [...after.flatMap(({ attachment }) => stringAt(attachment, 'content') ?? []), ...contextAfter]
  const closing = after.flatMap((record) => stringAt(objectAt(record, 'message'), 'content') ?? [])
  const restored =
    pieces.length === 0 ? [] : ['Context that may or may not be relevant:', ...pieces.map(neutralizePiece)]
  return wellFormed([summary, ...restored, ...closing].join('\n\n'))
}

/** The fields of pi's `compaction` entry that a compaction knows. It keeps nothing where it names itself. */
export function piCompaction(compacted: Compaction, id: string) {
  const [boundary] = compacted.records
  const { ledger: _ledger, last: _last, ...own } = objectAt(objectAt(boundary, 'everlong'), 'compaction') ?? {}
  const { tokens, before, after, keptUuids } = compacted
  const known = objectAt(boundary, 'compactMetadata')
  const metadata = { trigger: known?.trigger, postTokens: after, durationMs: numberAt(known, 'durationMs') }
  return {
    summary: contextText(compacted),
    firstKeptEntryId: keptUuids[0] ?? id,
    tokensBefore: before,
    // All of the new context is in the summary, so all of it counts.
    details: { everlong: { metadata, compaction: { ...own, freed: tokens.before - tokens.after } } },
  }
}

export type PiPlace = { readonly id: string; readonly parentId: string; readonly timestamp: string }

/** To be appended to a session of pi, which continues from it. */
export function piCompactionRecord(compacted: Compaction, { id, parentId, timestamp }: PiPlace): JsonObject {
  return { type: 'compaction', id, parentId, timestamp, ...piCompaction(compacted, id), fromHook: true }
}
