// Decides whether a command names a file that a rule denies: as it is, by a pattern, through a link, inside an argument
// such as `HEAD:.env` or `--file=.env`, or from another folder (`cd src && cat ../.env`).
import { basename, join, resolve } from 'node:path'
import { glob } from '../files/glob.ts'
import { expandHome } from '../files/paths.ts'
import type { Words } from './shell.ts'

const mostFolders = 20
const longestWord = 1_000

const mostPaths = 1_000

export type PathRule = {
  readonly pattern: string
  readonly covers: (path: string) => boolean
}

/** The files as they are now. */
export type Disk = {
  /** Follows links. The part of a path that does not exist stays as it is. */
  readonly realPath: (path: string) => string
  /** The names in a folder; none if it cannot be read. */
  readonly list: (folder: string) => readonly string[]
}

export const noDisk: Disk = { realPath: (path) => path, list: () => [] }

export type Where = { readonly root: string; readonly disk: Disk }

export function namesPath({ pattern, covers }: PathRule, commands: readonly Words[], { root, disk }: Where): boolean {
  const folders = foldersOf(commands, root)
  const words = new Set(commands.flatMap((command) => command.flatMap(partsOf)))
  return [...words].some((word) => {
    if (word.length > longestWord) return false
    const names = namesFor(word, pattern)
    return folders.some((folder) => {
      const paths = [...names.map((name) => resolve(folder, expandHome(name))), ...expanded(word, folder, disk)]
      return paths.some((path) => covers(path) || covers(disk.realPath(path)))
    })
  })
}

/** Where the commands may run: the workspace, and every folder that the script changes to. */
function foldersOf(commands: readonly Words[], root: string): readonly string[] {
  const folders = new Set([root])
  let last = root
  for (const [name, ...rest] of commands) {
    const flag = name === 'git' || name === 'make' ? rest.indexOf('-C') : -1
    const folder = name === 'cd' || name === 'pushd' ? rest.find((word) => !word.startsWith('-')) : rest[flag + 1]
    if (folder === undefined || (flag < 0 && name !== 'cd' && name !== 'pushd')) continue
    last = resolve(last, expandHome(folder))
    if (folders.size < mostFolders) folders.add(last)
  }
  return [...folders]
}

/** The word, and what stands behind `=`, `:` and `@` in it. */
function partsOf(word: string): readonly string[] {
  const behind = [...word.matchAll(/[=:@]+(?=[^=:@])/g)].map(({ 0: sign, index }) => word.slice(index + sign.length))
  return [word, ...behind].filter((part) => part !== '')
}

function isPattern(text: string): boolean {
  return /[*?[{]/.test(text)
}

/** What a word may stand for. A folder stands for the files in it. */
function namesFor(word: string, pattern: string): readonly string[] {
  return isPattern(word) ? matching(word, pattern) : [word, `${word}/x`]
}

/** Names that the rule may mean and the shell may put in for the word. `*` alone means no file in particular. */
function matching(word: string, pattern: string): readonly string[] {
  const last = basename(word)
  if (/^\*+$/.test(last)) return [word]
  const matches = glob(last)
  const wanted = basename(pattern)
  const samples = ['', 'x'].map((text) => wanted.replace(/\*+|\?/g, text))
  const found = samples.filter((name) => matches(name) && (!name.startsWith('.') || last.startsWith('.')))
  return [word, ...found.map((name) => word.slice(0, word.length - last.length) + name)]
}

/** The existing paths that the shell would substitute for a word with a pattern in its folders. */
function expanded(word: string, folder: string, disk: Disk): readonly string[] {
  const path = expandHome(word)
  const parts = path.split('/')
  if (!parts.slice(0, -1).some(isPattern)) return []
  let paths = [path.startsWith('/') ? '/' : folder]
  for (const part of parts.filter((each) => each !== '')) {
    paths = paths.flatMap((each) => matchingIn(each, part, disk))
    paths.length = Math.min(paths.length, mostPaths)
  }
  return paths
}

function matchingIn(folder: string, part: string, disk: Disk): readonly string[] {
  if (part === '.' || part === '..') return [resolve(folder, part)]
  const matches = glob(part)
  const names = disk.list(folder).filter((name) => matches(name) && (!name.startsWith('.') || part.startsWith('.')))
  return names.map((name) => join(folder, name))
}
