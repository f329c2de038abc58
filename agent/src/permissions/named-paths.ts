// Decides whether a command names a file that a rule denies: directly, by a pattern, through a link, inside an argument such as
// `HEAD:.env` or `--file=.env`, or from another folder (`cd src && cat ../.env`).
import { homedir } from 'node:os'
import { basename, isAbsolute, join, parse, resolve } from 'node:path'
import { glob } from '../files/glob.ts'
import { expandHome } from '../files/paths.ts'
import { type Coverage, firstOf, maybe, no, unseenIn, yes } from './coverage.ts'
import type { Disk } from './disk.ts'
import type { IsOtherName } from './hard-links.ts'
import { programOf } from './programs.ts'
import type { Script } from './script.ts'
import { textOf, type Word, type Words } from './words.ts'

const maxFolders = 30
const maxPaths = 1_000
/** No system opens a longer path. */
const maxPathLength = 4_096

export type PathRule = {
  readonly pattern: string
  readonly covers: (path: string) => boolean
  readonly isOtherName?: IsOtherName
  /** Whether the rule is about such a command. Default: all. */
  readonly isAbout?: (command: Words) => boolean
}

export type Where = { readonly root: string; readonly disk: Disk }

export function pathCoverage(rule: PathRule, script: Script, { root, disk }: Where): Coverage {
  const folders = foldersOf(script.commands, { root, disk })
  if (folders === undefined) return { type: 'maybe', why: 'it changes the folder too often' }
  const commands = script.commands.filter(rule.isAbout ?? (() => true))
  const words = [...script.files, ...commands.flat()]
  const paths = folders.flatMap((folder) => [
    ...partsOf(words, 'literal').flatMap((text) => pathsOf(text, folder, disk)),
    ...partsOf(words, 'pattern').flatMap((text) => [
      ...matching(text, rule.pattern, folder),
      ...expanded(text, folder, disk),
    ]),
  ])
  const { covers, isOtherName = () => no } = rule
  if (paths.some((path) => covers(path) || covers(disk.realPath(path)))) return yes
  const unknown = [...script.files, ...commands.filter(opensFiles).flat()].find(({ type }) => type === 'unknown')
  const byOtherName = paths.map((path) => isOtherName(disk.realPath(path)))
  return firstOf([unknown ? maybe(unknown) : no, unseenIn(script), ...byOtherName])
}

/** Programs whose arguments are never files. */
const openingNothing = new Set(
  'echo printf test [ export declare local readonly typeset read return exit break continue shift sleep kill wait unset let true false : set type seq basename dirname expr'.split(
    ' ',
  ),
)

export function opensFiles([program]: Words): boolean {
  return !openingNothing.has(programOf(program) ?? '')
}

/** The file, and a file in it if it is a folder. */
function pathsOf(text: string, folder: string, disk: Disk): readonly string[] {
  const paths = placesOf(expandHome(ofProcess(text, folder)), folder, disk)
  return paths.flatMap((path) => [path, join(path, 'x')])
}

/**
 * The real path, seen from a folder. After a link, `..` means two places: the folder that contains the link for `cd`, and the
 * folder above the link's target for programs and `cd -P`.
 */
export function placesOf(path: string, folder: string, disk: Disk): readonly string[] {
  const named = resolve(folder, path)
  if (!path.includes('..') || path.length > maxPathLength) return [named]
  let followed = isAbsolute(path) ? parse(named).root : disk.realPath(folder)
  for (const part of path.split('/')) {
    // Programs cannot get further than this.
    if (!disk.exists(followed)) return [named]
    followed = disk.realPath(join(followed, part))
  }
  return followed === disk.realPath(named) ? [named] : [named, followed]
}

/** The kernel's names for the folder and the root of a process. */
function ofProcess(text: string, folder: string): string {
  const link = /^\/+proc\/[^/]+\/(?:task\/[^/]+\/)?(cwd|root)(?=\/|$)/.exec(text)
  return link ? `${link[1] === 'cwd' ? folder : ''}${text.slice(link[0].length) || '/'}` : text
}

/**
 * The folders in which the commands may run: the workspace, and every folder that the script may change to from one of them.
 * Undefined if there are too many.
 */
export function foldersOf(commands: readonly Words[], { root, disk }: Where): readonly string[] | undefined {
  const folders = new Set([root])
  for (const words of commands) {
    const folder = changedTo(words)
    if (folder === undefined) continue
    // A subshell or a condition may leave the shell's folder unchanged.
    for (const from of [...folders]) for (const place of placesOf(folder, from, disk)) folders.add(place)
    if (folders.size > maxFolders) return undefined
  }
  return [...folders]
}

function changedTo([program, ...rest]: Words): string | undefined {
  if (/^(?:cd|pushd)$/.test(programOf(program) ?? '')) {
    const [folder] = rest.filter((word) => !textOf(word)?.startsWith('-'))
    return folder === undefined ? homedir() : textOf(folder)
  }
  const at = rest.findIndex((word) => /^(?:-C|--directory|--chdir|--cwd|--prefix)$/.test(textOf(word) ?? ''))
  return at < 0 ? undefined : textOf(rest[at + 1])
}

/** The words of this type and the names that they may contain: `HEAD:.env`, `-T.env`, `source=.env,target=x`. Each once. */
function partsOf(words: Words, type: 'literal' | 'pattern'): readonly string[] {
  const texts = words.flatMap((word) => (word.type === type ? [word.text] : []))
  const parts = [...new Set(texts)].flatMap((text) => {
    const signs = [...text.matchAll(/[=:@,]+/g)]
    const after = signs.map(({ 0: sign, index }) => text.slice(index + sign.length))
    return [text, ...after, ...text.split(/[=:@,]+/), ...(/^-\w./.test(text) ? [text.slice(2)] : [])]
  })
  const possible = parts.filter((part) => part !== '' && part.length <= maxPathLength)
  return [...new Set([...possible, ...possible.flatMap(decoded)])]
}

/** Decodes `file:///.e%6ev`. */
function decoded(text: string): readonly string[] {
  if (!text.includes('%')) return []
  try {
    return [decodeURIComponent(text)]
  } catch {
    // Not an address.
    return []
  }
}

/** Paths that the rule may cover and that the shell may substitute for the word. `*` alone means no particular file. */
function matching(word: string, pattern: string, folder: string): readonly string[] {
  const last = basename(word)
  if (/^\*+$/.test(last)) return [resolve(folder, word)]
  const matches = glob(last)
  const wanted = basename(pattern)
  const samples = ['', 'x'].map((text) => wanted.replace(/\*+|\?/g, text))
  const found = samples.filter((name) => matches(name) && (!name.startsWith('.') || startsWithDot(last)))
  const start = word.slice(0, word.length - last.length)
  return [word, ...found.map((name) => start + name)].map((name) => resolve(folder, expandHome(name)))
}

/** Only a pattern that starts with a dot matches a name that does. */
function startsWithDot(pattern: string): boolean {
  return pattern.startsWith('.')
}

/** The paths that the shell passes for this word. Empty if they are known only at run time. */
export function filesNamed(word: Word, folder: string, disk: Disk): readonly string[] {
  if (word.type === 'literal') return placesOf(expandHome(word.text), folder, disk)
  return word.type === 'pattern' ? expanded(word.text, folder, disk) : []
}

/** The existing paths that the shell would substitute for a word with a pattern in its folders. */
function expanded(word: string, folder: string, disk: Disk): readonly string[] {
  const path = expandHome(word)
  const parts = path.split('/')
  let paths = [path.startsWith('/') ? '/' : folder]
  for (const part of parts.filter((each) => each !== '')) {
    paths = paths.flatMap((each) => matchingIn(each, part, disk))
    paths.length = Math.min(paths.length, maxPaths)
  }
  return paths
}

function matchingIn(folder: string, part: string, disk: Disk): readonly string[] {
  if (part === '.' || part === '..') return placesOf(part, folder, disk)
  const matches = glob(part)
  const names = disk.list(folder).filter((name) => matches(name) && (!name.startsWith('.') || startsWithDot(part)))
  return names.map((name) => join(folder, name))
}
