// The files of a folder of sessions: FOLDER/ID.jsonl, and FOLDER/ID/subagents/NAME.jsonl for sub-agents, at any depth.
// Links are never followed: they could lead anywhere.
import { lstatSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { itemsIn, resultsName } from '../../node/session/session-folder.ts'
import { ignoring } from '../../node/write/disk.ts'

const extension = '.jsonl'

/** Undefined if no file in the folder can have this id. Folders may contain more ids than a new session may have. */
export function transcriptPath(folder: string, id: string): string | undefined {
  const names = id.split('/')
  const isSafe = names.every((name) => name !== '' && name !== '.' && name !== '..' && !/[\\:\0]/.test(name))
  return isSafe ? `${join(folder, ...names)}${extension}` : undefined
}

export function sessionIdOf(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/').slice(0, -extension.length)
}

export function parentIn(id: string): string | undefined {
  return /^(.+)\/subagents\/[^/]+$/s.exec(id)?.[1]
}

/** All transcripts, wherever they are below the folder. */
export function transcriptsIn(folder: string): readonly string[] {
  return itemsIn(folder).flatMap((item) => {
    const path = join(folder, item.name)
    if (item.isFile()) return item.name.endsWith(extension) ? [path] : []
    return item.isDirectory() && item.name !== resultsName ? transcriptsIn(path) : []
  })
}

/** Whether there is a transcript that no link leads to. */
export function isTranscript(folder: string, path: string): boolean {
  const found = ignoring(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'], () => lstatSync(path))
  if (found?.isFile() !== true) return false
  for (let level = dirname(path); level !== folder && level.length > folder.length; level = dirname(level))
    if (lstatSync(level).isSymbolicLink()) return false
  return true
}
