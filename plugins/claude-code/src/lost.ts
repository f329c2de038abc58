// What a summary of Claude Code's left out, compared with the transcript, as a text for the agent.

import { readBoundary } from 'everlong/internal'
import { forEachEntry, leftOutText, readTranscript } from 'everlong/internal/node'

export type Compared = {
  readonly summary: string
  /** The size of the transcript when the summary was written: its boundary comes later, if it is there yet. */
  readonly bytes: number
  /** What else the new context starts with. */
  readonly given: string
}

/** For the agent; empty if nothing is missing. */
export function compare(transcript: string, { summary, bytes, given }: Compared): string {
  const session = readTranscript(transcript, { before: boundaryAfter(transcript, bytes), withFacts: true })
  return leftOutText(session, { summary, given, search: 'the everlong search tool' })
}

function boundaryAfter(transcript: string, bytes: number): string | undefined {
  let found: string | undefined
  const visit = ({ record }: { readonly record: { readonly [key: string]: unknown } }) => {
    if (readBoundary(record) && typeof record.uuid === 'string') found ??= record.uuid
  }
  forEachEntry(transcript, visit, { from: bytes })
  return found
}
