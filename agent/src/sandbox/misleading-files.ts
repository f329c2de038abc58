// Files with which git takes its settings and hooks from another place. The sandbox cannot keep commands from making them, because git
// would stop at a placeholder, or show it as a new file. So those that a command has made are removed when it ends.
import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export type Places = {
  /** The workspace's folder and those that were added to it. */
  readonly roots: readonly string[]
  /** Where git keeps repositories. */
  readonly stores: readonly string[]
}

export type MisleadingFiles = {
  /** Before a command: what is there by now is not of the command. */
  readonly note: (places: Places) => void
  /** After a command. */
  readonly remove: () => void
}

export function misleadingFiles(): MisleadingFiles {
  const absent = new Map<string, () => boolean>()
  const noteOne = (path: string, misleads: () => boolean) => {
    if (!misleads()) absent.set(path, misleads)
  }
  return {
    note: ({ roots, stores }) => {
      // Only the store of a worktree has one, from its start.
      for (const path of stores.map((store) => join(store, 'commondir'))) noteOne(path, () => isThere(path))
      for (const root of roots) noteOne(join(root, 'HEAD'), () => isBareRepository(root))
    },
    remove: () => {
      for (const [path, misleads] of absent) if (misleads()) rmSync(path, { recursive: true, force: true })
    },
  }
}

function isBareRepository(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => isThere(join(folder, name)))
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
