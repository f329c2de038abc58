// What a compaction lost, most important first, and never longer than the host takes.

import type { JsonObject } from 'everlong/internal'
import { compactionJobAt, missingFromSummary, transcriptOfRecords } from 'everlong/internal/node'

export type Compaction = {
  /** The conversation before it, in any format that Everlong reads, and the file it is stored in. */
  readonly records: readonly JsonObject[]
  readonly path: string
  /** The summary, and messages that were kept verbatim with it. */
  readonly shown: readonly string[]
}

/** Empty if nothing is missing that code can find. */
export function lostIn({ records, path, shown }: Compaction, maxTokens: number): string {
  const job = compactionJobAt(transcriptOfRecords(records, path))
  return missingFromSummary(job, { summary: shown.join('\n'), maxTokens })
}

/** Cut to a number of bytes, never inside a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const ending = '\n[…]'
  const room = maxBytes - Buffer.byteLength(ending)
  const cut = Buffer.from(text)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
  return `${cut}${ending}`
}
