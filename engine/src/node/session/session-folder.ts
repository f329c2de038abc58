// Where a session keeps its other files, in the layout of Claude Code: SESSION/subagents, SESSION/tool-results …
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { type Disk, nodeDisk, systemError, tolerating } from '../write/disk.ts'

/** The folder next to a transcript with the same name. Adds `.files` if that would be the transcript itself. */
export function sessionFolder(transcript: string): string {
  const name = basename(transcript, extname(transcript))
  return join(dirname(transcript), name === basename(transcript) ? `${name}.files` : name)
}

export const resultsName = 'tool-results'

export function resultsFolder(transcript: string): string {
  return join(sessionFolder(transcript), resultsName)
}

/** Creates `SESSION/NAME`. Refuses a symbolic link at either level. */
export function makeSessionFolder(folder: string, disk: Disk = nodeDisk): void {
  makeFolderBelow(dirname(dirname(folder)), folder, disk)
}

/** Creates a folder and its parents up to `root`. Refuses a symbolic link among them: it could lead anywhere. */
export function makeFolderBelow(root: string, folder: string, disk: Disk = nodeDisk): void {
  const levels: string[] = []
  for (let level = resolve(folder); level.length > resolve(root).length; level = dirname(level)) levels.unshift(level)
  for (const level of levels) {
    if (lstatSync(level, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw systemError(
        'ELOOP',
        `${level} is a symbolic link, and Everlong does not write through links. Remove the link and try again.`,
      )
    }
    disk.makeFolder(level)
  }
}

/** Empty if the folder does not exist or cannot be read. */
export function itemsIn(folder: string): readonly Dirent[] {
  return tolerating(() => readdirSync(folder, { withFileTypes: true })) ?? []
}

/** Regular files only, sorted. Skips links, which could lead anywhere. */
export function filesIn(folder: string): readonly string[] {
  const names = itemsIn(folder).flatMap((item) => (item.isFile() ? [item.name] : []))
  return names.toSorted().map((name) => join(folder, name))
}

export function isAgentFile(path: string): boolean {
  return basename(path).startsWith('agent-') && path.endsWith('.jsonl')
}
