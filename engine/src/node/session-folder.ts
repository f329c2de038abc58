// Where what belongs to a session lies beside its transcript, as Claude Code has it. Names only: it touches no disk.
import { basename, dirname, extname, join } from 'node:path'

/** The folder beside a transcript that is called like it. */
export function sessionFolder(transcript: string): string {
  return join(dirname(transcript), basename(transcript, extname(transcript)))
}

/** What the folder of large tool results is called. */
export const resultsName = 'tool-results'

/** Where a session's large results lie. It may not be there yet. */
export function resultsFolder(transcript: string): string {
  return join(sessionFolder(transcript), resultsName)
}
