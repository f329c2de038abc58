// The current files, for deny rules. Synchronous, so that nothing changes between two checks.
import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../files/regular-file.ts'

export type Disk = {
  /** Follows links. The part of a path that does not exist stays as it is. */
  readonly realPath: (path: string) => string
  /** The names in a folder; none if it cannot be read. */
  readonly list: (folder: string) => readonly string[]
  readonly exists: (path: string) => boolean
  /** Undefined if it is not a regular file of at most 1 MB that can be read. */
  readonly read: (path: string) => string | undefined
  /** Whether a file has these bytes. One that cannot be read, or is larger than 64 MB, may have them. */
  readonly contains: (path: string, bytes: Buffer) => boolean
  /** Device and inode of a file that has several names (hard links). Undefined for any other. */
  readonly identity: (path: string) => string | undefined
  /** The files in a folder and in the folders below, or the path itself if it is a file. Links are not followed. */
  readonly filesBelow: (path: string, max: number) => { readonly files: readonly string[]; readonly isCut: boolean }
}

/** Nothing is known about files, so any file may exist. */
export const noDisk: Disk = {
  realPath: (path) => path,
  list: () => [],
  exists: () => true,
  read: () => undefined,
  contains: () => true,
  identity: () => undefined,
  filesBelow: () => ({ files: [], isCut: false }),
}

export const disk: Disk = { realPath, list, exists: existsSync, read, contains, identity, filesBelow }

function realPath(path: string): string {
  try {
    // The native one also returns names as they are on the disk, where upper and lower case are the same.
    return realpathSync.native(path)
  } catch {
    // Missing or unreadable, so uses the real path of its folder, if there is one.
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

const maxReadBytes = 1024 * 1024

function read(path: string): string | undefined {
  const found = readRegularFile(path, maxReadBytes)
  return found.type === 'text' ? found.text : undefined
}

const maxSearchedBytes = 64 * 1024 * 1024

function contains(path: string, bytes: Buffer): boolean {
  if (!existsSync(path)) return false
  const found = readRegularFile(path, maxSearchedBytes, 'latin1')
  return found.type === 'unreadable' || found.text.includes(bytes.toString('latin1'))
}

export function identity(path: string): string | undefined {
  try {
    const found = lstatSync(path)
    return found.isFile() && found.nlink > 1 ? `${found.dev}:${found.ino}` : undefined
  } catch {
    // Missing, or in a folder that we may not read.
    return undefined
  }
}

function filesBelow(path: string, max: number) {
  const files: string[] = []
  const folders = [path]
  let seen = 0
  if (entriesOf(path) === undefined) return { files: folders, isCut: false }
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder) ?? []) {
      if (++seen > max) return { files, isCut: true }
      if (entry.isDirectory()) folders.push(join(folder, entry.name))
      else if (entry.isFile()) files.push(join(folder, entry.name))
    }
  }
  return { files, isCut: false }
}

function entriesOf(folder: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}
