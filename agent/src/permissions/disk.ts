// The files as they are now, for rules that deny: synchronous, so that nothing changes between two looks.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export type Disk = {
  /** Follows links. The part of a path that does not exist stays as it is. */
  readonly realPath: (path: string) => string
  /** The names in a folder; none if it cannot be read. */
  readonly list: (folder: string) => readonly string[]
  readonly exists: (path: string) => boolean
  /** Undefined if it is not a file that can be read. */
  readonly read: (path: string) => string | undefined
}

/** Nothing is known about the files, so each of them may be there. */
export const noDisk: Disk = { realPath: (path) => path, list: () => [], exists: () => true, read: () => undefined }

export const disk: Disk = { realPath, list, exists: existsSync, read }

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Missing or unreadable: where its folder leads, if there is one.
    const folder = dirname(path)
    return folder === path ? path : join(realPath(folder), basename(path))
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
