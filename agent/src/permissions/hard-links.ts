// Other names of denied files: a hard link is the same file under an unrelated name. Only a file with more than one name is
// compared, by device and inode, with the files that the rule covers.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Coverage, no, yes } from './coverage.ts'
import type { Disk } from './disk.ts'

/** Listing this many takes about two seconds. With more, a match cannot be excluded. */
const maxFiles = 500_000

export type DeniedFiles = {
  readonly pattern: string
  readonly covers: (path: string) => boolean
}

/** Whether the file at this path, which must not be a link, is also one of the denied files. */
export type IsOtherName = (path: string) => Coverage

/** Lists the denied files once, when the first file with several names is checked. */
export function otherNamesOf({ pattern, covers }: DeniedFiles, root: string, disk: Disk): IsOtherName {
  let denied: { readonly identities: ReadonlySet<string>; readonly isCut: boolean } | undefined
  const find = () => {
    const { files, isCut } = disk.filesBelow(folderOf(pattern, root), maxFiles)
    return { identities: new Set(files.filter(covers).flatMap((path) => disk.identity(path) ?? [])), isCut }
  }
  return (path) => {
    const identity = disk.identity(path)
    if (identity === undefined) return no
    denied ??= find()
    if (denied.identities.has(identity)) return yes
    return denied.isCut ? { type: 'maybe', why: `${path} has several names, and too many files may be the same` } : no
  }
}

/** Lists each folder once for several rules about the same files. */
export function listingOnce(disk: Disk): Disk {
  const listings = new Map<string, ReturnType<Disk['filesBelow']>>()
  const filesBelow: Disk['filesBelow'] = (folder, max) => {
    const listing = listings.get(folder) ?? disk.filesBelow(folder, max)
    listings.set(folder, listing)
    return listing
  }
  return { ...disk, filesBelow }
}

/** The deepest folder that contains all files of the pattern. */
function folderOf(pattern: string, root: string): string {
  const isElsewhere = /^(?:\/\/|~\/)/.test(pattern)
  // Without a slash, it matches at any depth.
  if (!isElsewhere && !pattern.replace(/\/+$/, '').includes('/')) return root
  const parts = pattern.split('/')
  const end = parts.findIndex((part) => /[\\*?[\]{}]/.test(part))
  const plain = (end < 0 ? parts : parts.slice(0, end)).filter((part) => part !== '' && part !== '.')
  if (pattern.startsWith('~/')) return join(homedir(), ...plain.slice(1))
  return pattern.startsWith('//') ? join('/', ...plain) : join(root, ...plain)
}
