// Commands that read files which they do not name: all files below the folders that they search.
import { dirname, join, relative, sep } from 'node:path'
import { parseIgnore } from '../files/ignore.ts'
import { isWithin, slashed } from '../files/paths.ts'
import { placesOf, type Where } from './named-paths.ts'

export type Search = {
  /** Files and folders as they are named, from the folder that the command runs in. */
  readonly places: readonly string[]
  /** It leaves out files and folders whose name starts with a dot. */
  readonly skipsDotted: boolean
}

/** Undefined if the command reads only files that it names. */
export function searchOf([program = '', ...rest]: readonly string[]): Search | undefined {
  if (program === 'diff') return { places: rest, skipsDotted: false }
  if (program === 'grep' && !rest.some((word) => /^-\w*r|^--rec/.test(word))) return undefined
  const options = searching[program]
  if (options === undefined) return undefined
  const { operands, options: given } = parsed(rest, options)
  const patterns = given.some((word) => options.pattern.test(word)) ? 0 : 1
  // A word may be a folder whatever the options are. Without one, it is the folder that the command runs in.
  const places = [...rest.filter((word) => !word.startsWith('-')), ...(operands.length > patterns ? [] : ['.'])]
  return { places, skipsDotted: program === 'rg' && !given.some((word) => /^-\w*[u.]|^--(?:hid|unr)/.test(word)) }
}

type Options = {
  /** Letters of options with a value. */
  readonly letters: string
  /** Other options with a value. Some programs accept the start of a name. */
  readonly names: RegExp
  /** Instead of the first operand. */
  readonly pattern: RegExp
}

const searching: Readonly<Record<string, Options>> = {
  grep: {
    letters: 'ABCDdefm',
    names: /^--(?:a|be|con|bin|dev|dir|exc|file$|inc|la|m|reg)/,
    pattern: /^-\w*[ef]|^--(?:reg|file$|file=)/,
  },
  rg: {
    letters: 'ABCEMTdefgjmrt',
    names:
      /^--(?:after|before|col|context|dfa|enc|engine|field|file$|gen|glob$|host|iglob$|ignore-file$|max|path|pre|regex|repl|sort|thr|type)/,
    pattern: /^-\w*[ef]|^--(?:regexp|file$|file=|files$|type-list)/,
  },
}

function parsed(words: readonly string[], { letters, names }: Options) {
  const operands: string[] = []
  const options: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') return { operands: [...operands, ...words.slice(at + 1)], options }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word)
      continue
    }
    options.push(word)
    const letter = word.startsWith('--') ? -1 : [...word].findIndex((each) => letters.includes(each))
    const hasNext = word.startsWith('--') ? names.test(word) && !word.includes('=') : letter === word.length - 1
    if (hasNext) at++
  }
  return { operands, options }
}

const maxFiles = 500_000

type Closed = Where & { readonly isClosed: (path: string) => boolean }

/** Whether the search reads a file that is closed, if it runs in this folder. With too many files, it may. */
export function readsClosed(
  { places, skipsDotted }: Search,
  folder: string,
  { root, disk, isClosed }: Closed,
): boolean {
  const paths = new Set(places.flatMap((place) => placesOf(place, folder, disk)).filter(disk.exists))
  return [...paths].some((path) => {
    const { files, isCut } = disk.filesBelow(path, maxFiles)
    const isSkipped = (file: string) => skipsDotted && isDotted(relative(path, file)) && !isListed(file, { root, disk })
    return isCut || files.some((file) => isClosed(file) && !isSkipped(file))
  })
}

function isDotted(path: string): boolean {
  return path.split(sep).some((part) => part.startsWith('.'))
}

/** A line such as `!.env` makes ripgrep search a file whose name starts with a dot. */
function isListed(file: string, { root, disk }: Where): boolean {
  const folders = foldersAbove(file, root)
  return folders.some((folder) => {
    const lines = ignoreFiles.flatMap((name) => parseIgnore(disk.read(join(folder, name)) ?? ''))
    const inside = [file, ...folders].filter((path) => path !== folder && isWithin(folder, path))
    return lines.some((line) => line.isNegated && inside.some((path) => line.matches(slashed(relative(folder, path)))))
  })
}

const ignoreFiles = ['.gitignore', '.ignore', '.rgignore', '.git/info/exclude']

function foldersAbove(path: string, root: string): readonly string[] {
  const folder = dirname(path)
  return folder === root || folder === path ? [folder] : [folder, ...foldersAbove(folder, root)]
}
