// Decides whether a command names a file that a rule denies: as it is, by a pattern, inside an argument such as
// `HEAD:.env` or `--file=.env`, or from another folder (`cd src && cat ../.env`).
import { basename, resolve } from 'node:path'
import { glob } from '../files/glob.ts'
import { expandHome } from '../files/paths.ts'
import type { Words } from './shell.ts'

const mostFolders = 20
const longestWord = 1_000

export type PathRule = {
  readonly pattern: string
  readonly covers: (path: string) => boolean
}

export function namesPath(rule: PathRule, commands: readonly Words[], root: string): boolean {
  const folders = foldersOf(commands, root)
  const words = new Set(commands.flatMap((command) => command.flatMap(partsOf)))
  return [...words].some((word) => isNamed(rule, word, folders))
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

function isNamed({ pattern, covers }: PathRule, word: string, folders: readonly string[]): boolean {
  if (word.length > longestWord) return false
  // The folder itself stands for the files in it.
  const names = /[*?[{]/.test(word) ? matching(word, pattern) : [word, `${word}/x`]
  return names.some((name) => folders.some((folder) => covers(resolve(folder, expandHome(name)))))
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
