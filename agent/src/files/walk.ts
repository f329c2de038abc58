// Lists the files below a folder in a stable order, except ignored ones. Does not follow links.
import { readdir } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { type IgnoreRules, isIgnored, withFolder } from './ignore.ts'
import { isWithin } from './paths.ts'

export type WalkOptions = {
  /** Ignore files between this folder and `folder` apply as well. */
  readonly root: string
  readonly signal: AbortSignal
  /** Files and folders to hide. */
  readonly isHidden?: (path: string) => boolean
  readonly most?: number
}

export type Walked = {
  readonly files: readonly string[]
  /** There were more files than the limit. */
  readonly isCut: boolean
}

export async function walk(folder: string, { root, signal, isHidden, most = 200_000 }: WalkOptions): Promise<Walked> {
  const files: string[] = []
  const waiting: { readonly folder: string; readonly rules: IgnoreRules }[] = [{ folder, rules: above(folder, root) }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted()
    const { folder: here } = next
    const rules = withFolder(next.rules, here)
    const folders: typeof waiting = []
    for (const entry of await entriesOf(here)) {
      const path = join(here, entry.name)
      const isFolder = entry.isDirectory()
      if ((!isFolder && !entry.isFile()) || isIgnored(rules, { path, name: entry.name, isFolder })) continue
      if (isHidden?.(path)) continue
      if (isFolder) folders.push({ folder: path, rules })
      else if (files.length >= most) return { files, isCut: true }
      else files.push(path)
    }
    waiting.push(...folders.toReversed())
  }
  return { files, isCut: false }
}

/** An unreadable folder counts as empty. */
async function entriesOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function above(folder: string, root: string): IgnoreRules {
  if (!isWithin(root, folder) || folder === root) return []
  const chain: string[] = []
  for (let at = dirname(folder); isWithin(root, at); at = dirname(at)) {
    chain.unshift(at)
    if (at === root || at === sep) break
  }
  return chain.reduce<IgnoreRules>(withFolder, [])
}
