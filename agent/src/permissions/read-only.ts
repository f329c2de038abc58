// Commands that only read the workspace, so that nobody needs to be asked: listed programs with harmless options, whose arguments
// name no file outside of it.
import { isWithin } from '../files/paths.ts'
import { foldersOf, opensFiles, placesOf, type Where } from './named-paths.ts'
import { startedBy } from './programs.ts'
import { gitLeaves } from './repositories.ts'
import type { Script } from './script.ts'
import { readsClosed, searchOf } from './searches.ts'
import { literal, textOf, type Words } from './words.ts'

export type Looking = Where & {
  /** Whether a rule denies reading this path. */
  readonly isHidden: (path: string) => boolean
  /** Whether it holds secrets that no rule opens. */
  readonly isSecret: (path: string) => boolean
}

/** The plain commands of a script that only read. */
export function readOnlyCommands({ plain = [] }: Script, looking: Looking): (words: readonly string[]) => boolean {
  const { root, disk } = looking
  const folders = foldersOf(
    plain.map((words) => words.map(literal)),
    looking,
  )
  if (!folders?.every((folder) => isWithin(root, disk.realPath(folder)))) return () => false
  const staysInside = (word: string) => folders.every((folder) => isInside(word, folder, looking))
  const runsNothing = !plain.some(([program]) => program === 'git') || !folders.some((each) => gitLeaves(each, looking))
  return (words) =>
    isHarmless(words) &&
    (!opensFiles(words.map(literal)) || words.slice(1).flatMap(namesIn).every(staysInside)) &&
    (runsNothing || words[0] !== 'git') &&
    !folders.some((folder) => findsClosed(words, folder, looking))
}

export function isReadOnly(script: Script, looking: Looking): boolean {
  return script.plain?.every(readOnlyCommands(script, looking)) ?? false
}

/** Whether a command may do more than look at the files that it names. */
export function mayChange(words: Words): boolean {
  const texts = words.flatMap((word) => textOf(word) ?? [])
  return texts.length < words.length || !isHarmless(texts)
}

/** A word, and the value in `--option=value`. */
function namesIn(word: string): readonly string[] {
  const value = /^--?[\w-]+=(.+)$/s.exec(word)?.[1]
  return value === undefined ? [word] : [word, value]
}

/** A word that names nothing on disk reads nothing: `grep -rn /api src`. */
function isInside(word: string, folder: string, { root, disk }: Where): boolean {
  const places = placesOf(word, folder, disk)
  // They mean something else for another process.
  if (places.some((place) => /^\/(?:proc|dev)\//.test(place))) return false
  const paths = places.map(disk.realPath)
  return paths.every((path) => isWithin(root, path) || !disk.exists(path))
}

function findsClosed(words: readonly string[], folder: string, { root, disk, isHidden, isSecret }: Looking): boolean {
  // Files with secrets are not in a repository.
  const all = { places: [root], skipsDotted: false }
  if (words[0] === 'git') return words.includes('grep') && readsClosed(all, root, { root, disk, isClosed: isHidden })
  const search = searchOf(words)
  const isClosed = (path: string) => isHidden(path) || isSecret(path)
  return search !== undefined && readsClosed(search, folder, { root, disk, isClosed })
}

function isHarmless([program = '', ...rest]: readonly string[]): boolean {
  if (isVersionQuestion(program, rest)) return true
  if (program === 'git') return isHarmlessGit(rest)
  if (program === 'find') return rest.every((word) => !word.startsWith('-') || findTests.has(word))
  if (program === 'sed') return isPrintingSed(rest)
  const operands = rest.filter((word) => !word.startsWith('-'))
  // `uniq` writes to its second file, and digits alone set the clock.
  if (program === 'uniq' && operands.length > 1) return false
  if (program === 'date' && operands.some((word) => /^[\d.]+$/.test(word))) return false
  return hasHarmlessOptions(program, rest)
}

/** None of them writes a file, runs a program or changes the system, except with the options below. */
const programs = new Set(
  `basename cat cd cksum cmp comm cut date df diff dirname du echo false file fold grep head id join ls md5sum nl paste printf
  pwd readlink realpath rev rg seq sha1sum sha256sum sort stat tac tail tr tree true type uname uniq uptime wc which whoami`
    .split(/\s+/)
    .filter(Boolean),
)

/**
 * Options that write, run a program, read names from a file, or follow links out of the workspace. Programs accept the start of a
 * long option's name, so these are starts.
 */
const harmfulOptions: Readonly<Record<string, RegExp>> = {
  date: /^-\w*[sf]|^--(?:s|f)/,
  diff: /^-\w*r|^--rec/,
  du: /^-\w*X|^--(?:fi|exclude-f)/,
  file: /^-\w*[Cfmz]|^--(?:c|f|m|u)/,
  grep: /^-\w*[dfR]|^--(?:fi|d[ei]r|exclude-f)/,
  md5sum: /^-\w*c|^--c/,
  printf: /^-\w*v/,
  rg: /^-\w*[fzL]|^--(?:pre|hos|sea|fi|fo|ignore-f)/,
  sha1sum: /^-\w*c|^--c/,
  sha256sum: /^-\w*c|^--c/,
  sort: /^-\w*[oT]|^--(?:o|c|t|fi)/,
  tree: /^-\w*[olR]|^--(?:o|fromf|inf|gitf)/,
  wc: /^--fi/,
}

/** `-la`, `-n5`, `--color=auto`, but not `-f/etc/passwd` or `--from-file=..`. */
const ordinaryOption = /^-[A-Za-z0-9]*$|^--(?:[a-z][a-z0-9-]*(?:=(?!.*\.\.)[\w.,:%*+-]*)?)?$/

function hasHarmlessOptions(program: string, words: readonly string[]): boolean {
  const options = words.filter((word) => word.startsWith('-'))
  const harmful = harmfulOptions[program]
  // It takes every word as text.
  if (program === 'echo') return true
  return programs.has(program) && options.every((word) => ordinaryOption.test(word) && !harmful?.test(word))
}

const findTests = new Set(
  `-P -name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -depth -mount -xdev -not -o -or -a -and
  -empty -size -mtime -mmin -atime -ctime -newer -perm -user -group -prune -print -print0 -ls -quit -true -false`
    .split(/\s+/)
    .filter(Boolean),
)

/** Scripts that print, delete or replace in the output, without an option that writes to the file. */
function isPrintingSed(words: readonly string[]): boolean {
  const isKnown = words.every((word) => !word.startsWith('-') || /^-[nErsu]+$|^-[nErsu]*e$/.test(word))
  return isKnown && startedBy([literal('sed'), ...words.map(literal)], undefined).unseen === undefined
}

/**
 * Tools that people ask for their version; the question runs nothing else. Not so for tools that first load what files of the project
 * name: yarn (`yarnPath`), pnpm (`packageManager`), cargo, rustc and go (the toolchain), mvn and gradle (options of Java), dotnet
 * (`global.json`), composer and poetry (plug-ins).
 */
const tools =
  /^(?:node|npm|bun|deno|npx|tsc|python3?|pip3?|uv|ruby|gem|java|javac|gcc|g\+\+|clang|make|cmake|git|docker|kubectl|psql|php|bash|rg)$/

/** Their short question. Other tools start: `python3 -v` and `npx -V` run their input. */
const shortQuestions: Readonly<Record<string, RegExp>> = {
  '-v': /^(?:node|npm|bun|npx|tsc|ruby|gem|gcc|g\+\+|clang|make|git|docker|php)$/,
  '-V': /^(?:python3?|pip3?|uv|deno|psql|rg)$/,
}

function isVersionQuestion(program: string, [word = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && (word === '--version' ? tools : shortQuestions[word])?.test(program) === true
}

/** Subcommands that only read, with any operands. */
const lookingGit = new Set(
  `status log diff show blame annotate ls-files ls-tree rev-parse rev-list shortlog describe merge-base name-rev cat-file
  grep show-ref for-each-ref diff-tree count-objects check-ignore whatchanged cherry range-diff version`
    .split(/\s+/)
    .filter(Boolean),
)

/** Subcommands that only read with these words. */
const sometimesLookingGit: Readonly<Record<string, RegExp>> = {
  branch: /^(?:-[avr]+|-vv|--list|--all|--remotes|--show-current|--merged|--no-merged|--color|--sort=[\w:-]+)$/,
  tag: /^(?:-l|--list|-n\d*|--sort=[\w:-]+)$/,
  remote: /^(?:-v|--verbose)$/,
  reflog: /^(?:show|-n?\d+|HEAD)$/,
  stash: /^(?:list|show|-p|--stat|stash@\{\d+\})$/,
  worktree: /^list$/,
  config: /^(?:-l|--list|list|--show-origin|--global|--local)$/,
}

/** Starts of options with which git writes a file, runs a program or reads a named file. */
const harmfulGit =
  /^-\w*O|^--o(?!neline$|urs$)|^--ex(?!it-code$|clude-standard$)|^--te(?!xt$)|^--(?:fil|show-sig|contents)/

function isHarmlessGit(words: readonly string[]): boolean {
  const at = words[0] === '--no-pager' ? 1 : words[0] === '-C' ? 2 : 0
  const [sub = '', ...rest] = words.slice(at)
  if (rest.some((word) => harmfulGit.test(word))) return false
  if (lookingGit.has(sub)) return rest.every((word) => !/^-\w*\//.test(word) && !/^--[\w-]+=.*\//.test(word))
  if (sub === 'config' && /^(?:--get|get)$/.test(rest[0] ?? '')) return rest.length === 2
  const known = sometimesLookingGit[sub]
  // `git stash` alone saves changes away, and `git config` alone prints its help.
  const isEnough = rest.length > 0 || /^(?:branch|tag|remote|reflog)$/.test(sub)
  return known !== undefined && isEnough && rest.every((word) => known.test(word))
}
