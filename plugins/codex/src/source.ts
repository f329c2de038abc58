// What a compaction is compared with: the conversation before it. Of earlier epochs only the user's words are parsed,
// because a rollout may hold many megabytes of tool results.
import { readFileSync } from 'node:fs'
import type { JsonObject } from 'everlong/internal'
import { compactionJobAt, type SummarySource, summarySource, transcriptOfRecords } from 'everlong/internal/node'
import { compactedMark, itemMark, lineAt, lineStart, recordIn } from './last-compaction.ts'

const userMark = '"role":"user"'

/** The conversation in the first `end` bytes of a rollout. */
export function sourceBefore(rollout: string, end: number): SummarySource {
  const records = recordsIn(readFileSync(rollout).subarray(0, end))
  return summarySource(compactionJobAt(transcriptOfRecords(records, rollout)))
}

function recordsIn(bytes: Buffer): readonly JsonObject[] {
  const before = bytes.lastIndexOf(compactedMark)
  const start = before < 0 ? 0 : lineStart(bytes, before)
  const earlier = start === 0 ? [] : [lineAt(bytes, 0), ...userLines(bytes, start)]
  const epoch = bytes.toString('utf8', start).split('\n')
  return [...earlier, ...epoch].map(recordIn).filter((record) => record !== undefined)
}

function userLines(bytes: Buffer, to: number): readonly string[] {
  const lines: string[] = []
  for (let at = bytes.indexOf(userMark); at >= 0 && at < to; ) {
    const start = lineStart(bytes, at)
    const line = lineAt(bytes, start)
    // A compaction repeats what the user said.
    if (line.slice(0, 200).includes(itemMark)) lines.push(line)
    at = bytes.indexOf(userMark, start + Buffer.byteLength(line))
  }
  return lines
}
