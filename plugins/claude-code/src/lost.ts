// What a summary of Claude Code's left out, compared with the transcript, as a text for the agent.

import { leftOutBy } from 'everlong/internal/node'

export type Compared = {
  readonly summary: string
  /** The size of the transcript when the summary was written: its boundary comes later, if it is there yet. */
  readonly bytes: number
  /** What else the new context starts with. */
  readonly given: string
}

/** For the agent; empty if nothing is missing. */
export function compare(transcript: string, compared: Compared): string {
  return leftOutBy(transcript, { ...compared, search: 'the everlong search tool' })
}
