// Writes a compaction as a record of another agent's session. Such an agent stores one text, so restored context and the latest
// request follow the summary in it.
import { type JsonObject, numberAt, objectAt, stringAt } from '../message/json.ts'
import { wellFormed } from '../text/cut.ts'
import { neutralizePiece } from '../text/neutralize.ts'
import type { Compaction } from './job.ts'

/** The whole new context except the kept messages, as one text. */
function contextText({ summary, records, contextAfter }: Compaction): string {
  // After boundary and summary: restored context, text from hooks, and the latest request.
  const after = records.slice(2)
  const pieces = [...after.flatMap(({ attachment }) => stringAt(attachment, 'content') ?? []), ...contextAfter]
  const closing = after.flatMap((record) => stringAt(objectAt(record, 'message'), 'content') ?? [])
  const restored =
    pieces.length === 0 ? [] : ['Context that may or may not be relevant:', ...pieces.map(neutralizePiece)]
  return wellFormed([summary, ...restored, ...closing].join('\n\n'))
}

/** The fields of pi's `compaction` entry that come from a compaction. An entry that names itself keeps nothing. */
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
    // The whole new context is in the summary, so all of it counts.
    details: { everlong: { metadata, compaction: { ...own, freed: tokens.before - tokens.after } } },
  }
}

export type PiPlace = { readonly id: string; readonly parentId: string; readonly timestamp: string }

/** A record to append to a session of pi, which continues from it. */
export function piCompactionRecord(compacted: Compaction, { id, parentId, timestamp }: PiPlace): JsonObject {
  return { type: 'compaction', id, parentId, timestamp, ...piCompaction(compacted, id), fromHook: true }
}
