// Instruction files: AGENTS.md and CLAUDE.md of the person, of the project and of folders in it. A file may include others with a
// line `@path`. Reads nothing outside the person's own folder and the repository, nothing that a rule denies, and no file with
// secrets.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { isWithin } from '../files/paths.ts'
import { disk } from '../permissions/disk.ts'
import { hiddenBy, isOpened } from '../permissions/path-rules.ts'
import { parseRules } from '../permissions/rule.ts'
import { isSecretFile } from '../permissions/secrets.ts'

export type MemoryFile = { readonly path: string; readonly text: string }

const names = ['AGENTS.md', 'CLAUDE.md', 'CLAUDE.local.md'] as const
const maxBytes = 256 * 1024
const deepestInclude = 5

export type MemoryPlaces = {
  readonly home: string
  readonly folder: string
  /** Deny rules of the settings. Files that they cover are skipped. */
  readonly deny: readonly string[]
  /** Allow rules. They can open a file with secrets. */
  readonly allow?: readonly string[]
}

/** The person's own files, then those from the root of the repository down to the folder. Files with the same text count once. */
export function memoryFiles({ home, folder, ...lists }: MemoryPlaces): readonly MemoryFile[] {
  const root = repositoryRoot(folder)
  const isHidden = hiddenIn([folder, root], lists)
  const own = filesIn(home, { root: home, isHidden, depth: 0 })
  const ofProject = foldersBetween(root, folder).flatMap((path) => filesIn(path, { root, isHidden, depth: 0 }))
  return withoutRepeats([...own, ...ofProject])
}

export type NestedPlaces = Omit<MemoryPlaces, 'home'>

/** Those of the folders between the project's folder and a file below it, outermost first. */
export function nestedMemoryFiles({ folder, ...lists }: NestedPlaces, file: string): readonly MemoryFile[] {
  const path = resolve(folder, file)
  if (!isWithin(folder, path)) return []
  const [, ...below] = foldersBetween(folder, dirname(path))
  const isHidden = hiddenIn([folder], lists)
  return withoutRepeats(below.flatMap((each) => filesIn(each, { root: folder, isHidden, depth: 0 })))
}

/** A rule applies from each of these folders, and to the target of a link. */
function hiddenIn(folders: readonly string[], lists: Omit<NestedPlaces, 'folder'>): (path: string) => boolean {
  const { rules } = parseRules(lists)
  const roots = new Set(folders.flatMap((folder) => [folder, realPath(folder)]))
  const checks = [...roots].map((root) => hiddenBy(rules.deny, { root, disk }))
  const isOpen = (path: string) => [...roots].some((root) => isOpened(rules.allow, path, root))
  const isHidden = (path: string) => checks.some((check) => check(path)) || (isSecretFile(path) && !isOpen(path))
  return (path) => [path, realPath(path)].some(isHidden)
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** The nearest parent folder with a repository, or the folder itself if there is none. */
export function repositoryRoot(folder: string): string {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if (existsSync(join(path, '.git'))) return path
    if (path === dirname(path)) return resolve(folder)
  }
}

/** Both ends included. */
function foldersBetween(from: string, to: string): readonly string[] {
  const steps = relative(from, to)
    .split(sep)
    .filter((step) => step !== '')
  return ['', ...steps].map((_, at) => resolve(from, ...steps.slice(0, at)))
}

function filesIn(folder: string, reading: Reading): readonly MemoryFile[] {
  return names.flatMap((name) => readMemory(join(folder, name), reading) ?? [])
}

type Reading = {
  readonly root: string
  readonly isHidden: (path: string) => boolean
  readonly depth: number
}

function readMemory(path: string, reading: Reading): MemoryFile | undefined {
  const { root, isHidden, depth } = reading
  const text = isHidden(path) ? undefined : readInside(path, root)
  if (text === undefined || text.trim() === '') return undefined
  const include = (line: string, name: string) => {
    const file = resolve(dirname(path), name)
    const included = depth < deepestInclude ? readMemory(file, { ...reading, depth: depth + 1 }) : undefined
    return included ? `${included.text.trim()}` : line
  }
  return { path, text: withIncludes(text, include) }
}

/** Lines with only `@path`, outside of code. */
function withIncludes(text: string, include: (line: string, name: string) => string): string {
  let isCode = false
  const lines = text.split('\n').map((line) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
    const [, name] = isCode ? [] : (/^\s*@([^\s@]+)\s*$/.exec(line) ?? [])
    return name === undefined ? line : include(line, name)
  })
  return lines.join('\n')
}

/** Follows links only as far as the root. */
function readInside(path: string, root: string): string | undefined {
  const state = statSync(path, { throwIfNoEntry: false })
  if (!state?.isFile() || state.size > maxBytes) return undefined
  try {
    return isWithin(realpathSync(root), realpathSync(path)) ? readFileSync(path, 'utf8') : undefined
  } catch {
    // Unreadable files are skipped.
    return undefined
  }
}

function withoutRepeats(files: readonly MemoryFile[]): readonly MemoryFile[] {
  const isFirst = ({ text }: MemoryFile, at: number) =>
    files.findIndex((other) => other.text.trim() === text.trim()) === at
  return files.filter(isFirst)
}
