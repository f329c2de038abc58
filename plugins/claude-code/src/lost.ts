// Facts that a summary of Claude Code's lacks, compared with the transcript, as a text for the agent.
import { readBoundary, textOf } from 'everlong/internal'
import { forEachEntry, leftOutText, type SummarySource, sourceIn } from 'everlong/internal/node'

export type Compaction = {
  /** The size of the transcript when Claude Code started the new context. It writes boundary and summary after that. */
  readonly bytes: number
  /** Other text at the start of the new context. */
  readonly given: string
  /** The conversation before it, if it was read already. */
  readonly source: SummarySource | undefined
}

/** For the agent; empty if nothing is missing, or if there was no compaction after all. */
export function compare(transcript: string, { bytes, given, source }: Compaction): string {
  const { boundary, summary } = compactionAfter(transcript, bytes)
  if (boundary === undefined || summary === undefined) return ''
  return leftOutText(source ?? sourceIn(transcript, boundary), { summary, given, search: 'the everlong search tool' })
}

/** The conversation before the compaction that follows the first `bytes` of a transcript. */
export function sourceBefore(transcript: string, bytes: number): SummarySource {
  return sourceIn(transcript, compactionAfter(transcript, bytes).boundary)
}

type Found = { readonly boundary?: string; readonly summary?: string }

function compactionAfter(transcript: string, bytes: number): Found {
  let found: Found = {}
  forEachEntry(
    transcript,
    ({ record }) => {
      const { uuid, message } = record as { uuid?: unknown; message?: { readonly content?: string } }
      if (readBoundary(record) && typeof uuid === 'string') found = { boundary: found.boundary ?? uuid, ...found }
      if (record.isCompactSummary === true) found = { summary: textOf(message?.content), ...found }
    },
    { from: bytes },
  )
  return found
}
