// Finds where a path really leads. Follows links step by step, even for a file that does not exist yet and for a link whose
// target is missing, so that nothing is written through an unchecked link.
import { lstat, readlink, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

export type Place = {
  /** As named: absolute, without `..`. */
  readonly path: string
  /** With all links resolved. Files are opened by this path. */
  readonly real: string
  /** For people: relative to the workspace if it is inside. */
  readonly shown: string
  readonly isInside: boolean
  /** Named inside the workspace, but a link leads outside. */
  readonly leadsOut: boolean
}

export type Workspace = {
  readonly root: string
  /** With all links resolved. */
  readonly realRoot: string
  readonly place: (path: string) => Promise<Place>
  /** Further folders of the workspace, with all links resolved. */
  readonly added: () => readonly string[]
  /** Adds a folder, and returns its path with all links resolved. */
  readonly add: (folder: string) => Promise<string>
}

export async function openWorkspace(folder: string): Promise<Workspace> {
  const root = resolve(folder)
  const realRoot = await realpath(root)
  const added = new Set<string>()
  return {
    root,
    realRoot,
    place: async (given) => {
      if (given.includes('\0')) throw new Error('A path cannot contain a NUL character.')
      const path = resolve(root, expandHome(given))
      const real = await realPlace(path)
      const isInRoot = isWithin(realRoot, real)
      const isInside = isInRoot || [...added].some((folder) => isWithin(folder, real))
      const isNamedInside = isWithin(root, path) || isWithin(realRoot, path)
      const shown = isInRoot ? relative(realRoot, real) || '.' : path
      return { path, real, shown, isInside, leadsOut: isNamedInside && !isInside }
    },
    added: () => [...added],
    add: async (folder) => {
      const real = await realpath(resolve(root, expandHome(folder)))
      added.add(real)
      return real
    },
  }
}

export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** With slashes, as patterns have them. */
export function slashed(path: string): string {
  return path.replaceAll(sep, '/')
}

const maxLinks = 40

async function realPlace(path: string): Promise<string> {
  let left = path.split(sep).filter((part) => part !== '')
  let at: string = sep === '/' ? '/' : `${path.split(sep)[0]}${sep}`
  if (sep !== '/') left = left.slice(1)
  let links = 0
  while (left.length > 0) {
    const [part = '', ...rest] = left
    const next = part === '..' ? dirname(at) : join(at, part)
    const target = await linkAt(next)
    left = rest
    if (target === undefined) at = next
    else {
      if (++links > maxLinks) throw new Error(`${path} goes through too many links.`)
      const parts = target.split(sep).filter((each) => each !== '' && each !== '.')
      if (isAbsolute(target)) at = sep
      left = [...parts, ...rest]
    }
  }
  return at
}

/** Undefined if there is no link or nothing at all. */
async function linkAt(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
