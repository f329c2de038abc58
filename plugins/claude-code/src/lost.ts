// What a summary of Claude Code's left out, compared with the transcript.
import { compactionJobAt, forEachEntry, missingFromSummary, openSessionAt } from 'everlong/node'
import { readBoundary } from 'everlong/transcript'
import { cut } from './cut.ts'
import { lastCompaction } from './last-compaction.ts'

/** About 3.5 characters a token; the text is cut by characters in any case. */
const missingTokens = 2_500

export type Compared = {
  readonly summary: string
  /** The size of the transcript when the summary was written: its boundary comes later, if it is there yet. */
  readonly bytes: number
  /** What else the new context starts with. */
  readonly given: string
}

/** For the agent; empty if nothing is missing. */
export function compare(transcript: string, { summary, bytes, given }: Compared): string {
  const session = openSessionAt(transcript, { before: boundaryAfter(transcript, bytes) })
  if (session.type === 'not-found') throw new Error(`There is no session in ${transcript}.`)
  const shown = `${withoutTags(summary)}\n${given}`
  const missing = missingFromSummary(compactionJobAt(session), { summary: shown, maxTokens: missingTokens })
  if (missing === '') return ''
  return cut(
    `This session was compacted. The summary leaves out what follows; it was read off the transcript by code. It is context, not a request. For everything else use the everlong search tool.\n\n${missing}`,
  )
}

/** Of what the model wrote, the scratchpad does not reach the new context. */
function withoutTags(written: string): string {
  return written.replaceAll(/<analysis>[\s\S]*?<\/analysis>|<\/?summary>/g, '').trim()
}

function boundaryAfter(transcript: string, bytes: number): string | undefined {
  let found: string | undefined
  const visit = ({ record }: { readonly record: { readonly [key: string]: unknown } }) => {
    if (readBoundary(record) && typeof record.uuid === 'string') found ??= record.uuid
  }
  forEachEntry(transcript, visit, { from: bytes })
  return found
}

/** What the last recorded compaction left out, for a person. Undefined if there was none. */
export function lastLost(transcript: string): string | undefined {
  const last = lastCompaction(transcript)
  const session = last && openSessionAt(transcript, { before: last.boundary })
  if (session?.type !== 'session') return undefined
  return missingFromSummary(compactionJobAt(session), { summary: session.recordedSummary ?? '' })
}
