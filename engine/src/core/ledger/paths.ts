// How files are called on a page: a file that was met under two paths is one, and of those that were not touched lately
// the folder of the project is told once for all. Pure text; nothing is looked up on a disk.
import type { FileFact, Ledger } from './facts.ts'

const isWhole = (path: string) => /^[~/\\]|^[A-Za-z]:/.test(path)

/** A path from inside the project, and the whole one that it must be: the only one that ends so. */
export function wholePaths(files: readonly Pick<FileFact, 'path'>[]): ReadonlyMap<string, string> {
  const whole = files.map(({ path }) => path).filter(isWhole)
  const found = new Map<string, string>()
  for (const { path } of files) {
    if (isWhole(path) || !path.includes('/')) continue
    const tail = `/${path.replace(/^\.\//, '')}`
    const [one, ...more] = whole.filter((other) => other.replaceAll('\\', '/').endsWith(tail))
    if (one !== undefined && more.length === 0) found.set(path, one)
  }
  return found
}

export type ShortPaths = {
  /** With its last separator; undefined where no folder is worth telling. */
  readonly folder?: string
  readonly shorten: (path: string) => string
}

/** So many files, those touched last, are most likely asked for again, by the whole path. */
const wholeShown = 8
const leastShortened = 3

/** The folder that the session stood in, told once, for files below it that were not touched lately. */
export function shortPaths({ root, files }: Pick<Ledger, 'root' | 'files'>): ShortPaths {
  const none: ShortPaths = { shorten: (path) => path }
  if (root === undefined || !isWhole(root)) return none
  const folder = `${root}${root.includes('\\') ? '\\' : '/'}`
  const older = files
    .filter(({ reads, changes }) => reads + changes > 0)
    .toSorted((a, b) => b.last - a.last)
    .slice(wholeShown)
    .map(({ path }) => path)
    // Of a file right in the folder only its bare name would be left.
    .filter((path) => path.startsWith(folder) && /[\\/]/.test(path.slice(folder.length)))
  if (older.length < leastShortened) return none
  const short = new Set(older)
  return { folder, shorten: (path) => (short.has(path) ? path.slice(folder.length) : path) }
}
