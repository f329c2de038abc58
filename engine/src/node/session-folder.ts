// Where what belongs to a session lies beside its transcript, as Claude Code has it. Names only: it touches no disk.
import { basename, dirname, extname, join } from 'node:path'

/** The folder beside a transcript that is called like it; one without an ending would be the transcript itself. */
export function sessionFolder(transcript: string): string {
  const name = basename(transcript, extname(transcript))
  return join(dirname(transcript), name === basename(transcript) ? `${name}.files` : name)
}

/** What the folder of large tool results is called. */
export const resultsName = 'tool-results'

/** Where a session's large results lie. It may not be there yet. */
export function resultsFolder(transcript: string): string {
  return join(sessionFolder(transcript), resultsName)
}
