// Finds the files of the workspace that a sandboxed command must not read or change. It checks before every command, so it lists
// only folders that have changed since.
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { codeOf, isWithin } from '../files/paths.ts'
import { identity } from '../permissions/disk.ts'

export type Guard = {
  /** Such files and folders cannot be read. */
  readonly hides: (path: string) => boolean
  /** Such files and folders cannot be changed. */
  readonly fixes: (path: string) => boolean
  /** Whether to search this folder. */
  readonly looksIn: (path: string) => boolean
}

export type Guarded = {
  readonly hidden: readonly string[]
  readonly fixed: readonly string[]
  /** Git folders of repositories inside the workspace. */
  readonly stores: readonly string[]
}

type Listing = Guarded & {
  readonly changed: number
  readonly listed: number
  readonly folders: readonly string[]
}

/** File systems store times in steps. A folder that changed just before it was listed may have changed once more. */
const stepMs = 100

export class GuardedFiles {
  private readonly guard: Guard
  private readonly listings = new Map<string, Listing>()

  constructor(guard: Guard) {
    this.guard = guard
  }

  find(roots: readonly string[]): Guarded {
    const hidden: string[] = []
    const fixed: string[] = []
    const stores: string[] = []
    const outermost = roots.filter((root) => !roots.some((other) => other !== root && isWithin(other, root)))
    const waiting = [...outermost]
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const listing = this.listing(folder)
      hidden.push(...listing.hidden)
      fixed.push(...listing.fixed)
      if (!outermost.includes(folder)) stores.push(...listing.stores)
      waiting.push(...listing.folders)
    }
    return { hidden: [...hidden, ...otherNames(outermost, hidden)], fixed, stores }
  }

  private listing(folder: string): Listing {
    const known = this.listings.get(folder)
    const changed = changedAt(folder)
    if (known?.changed === changed && changed + stepMs < known.listed) return known
    const listed = Date.now()
    const listing = { changed, listed, ...this.list(folder) }
    this.listings.set(folder, listing)
    return listing
  }

  private list(folder: string): Guarded & { readonly folders: readonly string[] } {
    const { hides, fixes, looksIn } = this.guard
    const entries = entriesOf(folder).map((entry) => ({
      path: join(folder, entry.name),
      isFolder: entry.isDirectory(),
    }))
    const hidden = entries.filter(({ path }) => hides(path))
    const seen = entries.filter(({ path }) => !hides(path))
    return {
      hidden: hidden.map(({ path }) => path),
      // A file `.git` says where the repository is.
      fixed: seen
        .filter(({ path, isFolder }) => fixes(path) || (!isFolder && basename(path) === '.git'))
        .map(({ path }) => path),
      stores: seen.filter(({ path, isFolder }) => isFolder && basename(path) === '.git').map(({ path }) => path),
      folders: seen.filter(({ path, isFolder }) => isFolder && looksIn(path)).map(({ path }) => path),
    }
  }
}

function changedAt(folder: string): number {
  try {
    return lstatSync(folder).mtimeMs
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0
    throw error
  }
}

/** An unreadable or deleted folder has no entries for the command either. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Hard links: other names in the workspace of the same files. */
function otherNames(roots: readonly string[], hidden: readonly string[]): readonly string[] {
  const wanted = new Set(hidden.flatMap((path) => identity(path) ?? []))
  if (wanted.size === 0) return []
  const known = new Set(hidden)
  const found: string[] = []
  const waiting = [...roots]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else if (!known.has(path) && wanted.has(identity(path) ?? '')) found.push(path)
    }
  }
  return found
}
