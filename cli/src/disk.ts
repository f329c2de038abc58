// Reads the files that an installation changes, and writes a set of files: all or none. Follows links, so that settings stored
// elsewhere stay links.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, sep } from 'node:path'

export type Write = {
  readonly path: string
  /** Undefined means no file. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** Mode of a new file. An existing file keeps its own. */
  readonly mode?: number
}

export type Found = {
  /** Undefined if there is no file. */
  readonly bytes?: Uint8Array
  readonly isLink?: boolean
  /** The reason why it can be neither read nor written. */
  readonly odd?: string
}

export function readFileAt(path: string): Found {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return {}
  const isLink = stats.isSymbolicLink()
  const target = isLink ? statSync(path, { throwIfNoEntry: false }) : stats
  if (!target) return { isLink, odd: 'it is a link to a file that does not exist' }
  if (!target.isFile()) return { isLink, odd: 'it is not a file' }
  return { bytes: readFileSync(path), isLink }
}

/** The folders above these paths that do not exist, outermost first, without repetition. */
export function missingFolders(paths: readonly string[], home: string): readonly string[] {
  const missing = new Set<string>()
  for (const path of paths) {
    const above: string[] = []
    for (let folder = dirname(path); isMissing(folder) && folder !== home; folder = dirname(folder)) above.push(folder)
    for (const folder of above.toReversed()) missing.add(folder)
  }
  return [...missing]
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

/** A file that somebody else changed between planning and writing. */
export class ChangedMeanwhile extends Error {
  constructor(path: string) {
    super(`${path} changed meanwhile. Nothing was written; try again.`)
  }
}

/** Makes all writes or none: undoes partial work before it throws the error. */
export function writeAll({ writes, folders }: { writes: readonly Write[]; folders: readonly string[] }): void {
  const undo: (() => void)[] = []
  try {
    for (const folder of folders) {
      if (!isMissing(folder)) continue
      mkdirSync(folder, { mode: folder.endsWith(`${sep}.everlong`) ? 0o700 : 0o777 })
      undo.push(() => rmdirSync(folder))
    }
    for (const write of writes) {
      const now = readFileAt(write.path)
      if (!isSame(now.bytes, write.before)) throw new ChangedMeanwhile(write.path)
      const real = now.isLink ? realpathSync(write.path) : write.path
      put(real, write.after, write.mode)
      undo.push(() => put(real, write.before, write.mode))
    }
  } catch (error) {
    for (const step of undo.toReversed()) step()
    throw error
  }
}

function put(path: string, bytes: Uint8Array | undefined, mode: number | undefined): void {
  if (bytes === undefined) {
    rmSync(path, { force: true })
    return
  }
  const temporary = `${path}.everlong-new`
  // Left by a run that was killed.
  rmSync(temporary, { force: true })
  const old = statSync(path, { throwIfNoEntry: false })
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', flush: true, mode: mode ?? 0o666 })
    if (old) chmodSync(temporary, old.mode)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.from(a).equals(b)
}

/** Removes those of the folders that are empty, innermost first. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder)
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code)))
        throw error
    }
  }
}
