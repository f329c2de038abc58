// Where what belongs to a session lies beside its transcript, as Claude Code has it.
import { lstatSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { type Disk, nodeDisk, systemError } from '../write/disk.ts'

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

/**
 * Makes `SESSION/NAME`, the folder for one kind of file beside a session. Refuses when either level is a link, before
 * anything is made behind it: a link could lead anywhere.
 */
export function makeSessionFolder(folder: string, disk: Disk = nodeDisk): void {
  for (const level of [dirname(folder), folder]) {
    if (lstatSync(level, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw systemError(
        'ELOOP',
        `${level} is a link, and nothing is written through it. Remove the link and try again.`,
      )
    }
    disk.makeFolder(level)
  }
}
