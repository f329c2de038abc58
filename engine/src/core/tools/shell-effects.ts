// What a shell script does to files, judged by its words alone, and its purpose.
import type { Lines } from './call.ts'
import { type Command, commandsIn } from './shell.ts'

export type ScriptFile = {
  /** The name in the script. */
  readonly name: string
  /** Relative to the folder that the script changed to. */
  readonly path: string
  /** `named`: a command that creates, moves or changes files names it, but which of these happens is unknown. */
  readonly act: 'read' | 'written' | 'edited' | 'deleted' | 'named'
  readonly lines?: Lines
  /** Removed or moved away. */
  readonly isGone?: true
}

export type Script = {
  readonly commands: readonly Command[]
  readonly files: readonly ScriptFile[]
  /** Known to change files that it does not name: a formatter, a checkout, code that writes. */
  readonly isWide: boolean
}

export function readScript(text: string): Script {
  const commands = commandsIn(text)
  const [program, folder] = commands[0]?.words ?? []
  const files = commands
    .flatMap((command, at) => filesOf(command, commands[at + 1]))
    .map((file) => ({ ...file, path: pathIn(program === 'cd' ? folder : undefined, file.name) }))
  const isWide =
    codeThatWrites.some(([who, what]) => who.test(text) && what.test(text)) ||
    commands.some(isRewrite) ||
    files.some(({ name, act }) => act === 'named' && /[*?$`{]/.test(name))
  return { commands, files, isWide }
}

/** Whether this file may have changed. */
export function mayChange({ files, isWide }: Script, path: string): boolean {
  return isWide || files.some(({ name, act }) => act !== 'read' && mayBeSamePath(name, path))
}

export function removes({ files }: Script, path: string): boolean {
  return files.some(({ name, isGone }) => isGone && mayBeSamePath(name, path))
}

function mayBeSamePath(written: string, path: string): boolean {
  const name = written.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')
  return path === name || path.endsWith(`/${name}`) || path.startsWith(`${name}/`) || path.includes(`/${name}/`)
}

/** True unless every command is known to only read or check. */
export function mayChangeAnything(commands: readonly Command[]): boolean {
  return !commands.every((command) => onlyReads(command) || isCheck(command))
}

function pathIn(folder: string | undefined, name: string): string {
  if (folder === undefined || !/^[~/]/.test(folder) || /^[~/$]/.test(name)) return name
  return `${folder.replace(/\/$/, '')}/${name.replace(/^\.\//, '')}`
}

const showing = setOf('cat nl bat less head tail')
const changing = setOf('cp rmdir ln install truncate dd unzip tar rsync touch tee')
const editing = setOf('sed gsed perl ruby awk gawk')

type NamedFile = Omit<ScriptFile, 'path'>

function filesOf(command: Command, next: Command | undefined): readonly NamedFile[] {
  const { words, into, hasDocument, isPiped } = command
  const [program = '', ...rest] = words
  const given = rest.filter((word) => !word.startsWith('-') && !/^s[^\w\s.]/.test(word))
  const as = (act: ScriptFile['act'], names = given): readonly NamedFile[] =>
    names.map((name) => ({ name, act: isPath(name) ? act : 'named' }))
  const isWritten = hasDocument && (program === 'cat' || program === 'tee')
  const targets = into.filter((name) => !name.startsWith('/dev/'))
  const written = as(isWritten ? 'written' : 'named', targets)
  if (isWritten && program === 'tee') return [...written, ...as('written')]
  const [verb, ...operands] = program === 'git' ? gitWords(rest) : words
  const operated = operands.filter((word) => !word.startsWith('-'))
  if (verb === 'rm' && !operands.includes('--cached')) return [...written, ...asGone(as('deleted', operated))]
  // The last path is the destination.
  if (verb === 'mv')
    return [...written, ...asGone(as('named', operated.slice(0, -1))), ...as('named', operated.slice(-1))]
  if (program === 'git') return written
  const isInPlace = editing.has(program) && rest.some((word) => /^-[a-z]*i|^--in-place/.test(word))
  if (isInPlace) return [...written, ...as('edited')]
  if (changing.has(program)) return [...written, ...as('named')]
  const isShowing = showing.has(program) || (program === 'sed' && rest.includes('-n'))
  if (!isShowing || isPiped || into.length > 0) return written
  const lines = linesIn(words) ?? (next?.isPiped ? linesIn(next.words) : undefined)
  return given.filter(isPath).map((name) => ({ name, act: 'read', ...(lines ? { lines } : {}) }))
}

function asGone(files: readonly NamedFile[]): readonly NamedFile[] {
  return files.map((file) => ({ ...file, isGone: true }))
}

/** `sed -n 10,80p` shows lines 10 to 80. */
function linesIn([program, ...rest]: readonly string[]): Lines | undefined {
  const [, from, to] = program === 'sed' ? (/(?:^| )(\d+),(\d+)p/.exec(rest.join(' ')) ?? []) : []
  return from === undefined || to === undefined ? undefined : [Number(from), Number(to)]
}

/** True for words with a dot or slash and without shell expansions. */
function isPath(word: string): boolean {
  return (
    /^[\w~./@+-]+$/.test(word) &&
    /[./]/.test(word) &&
    /[A-Za-z]/.test(word) &&
    !/^(?:-|\.{1,2}\/?$|\/dev\/)|\/$/.test(word)
  )
}

/** Code inside a script that writes files, and programs that receive files from another. */
const codeThatWrites: readonly (readonly [RegExp, RegExp])[] = [
  [
    /\b(?:python3?|node|bun|deno|ruby|perl|php)\b/,
    /\bopen\([^)\n]{0,200}['"][wa]|\bwrite_text\b|\bwriteFile|\bappendFile|\bFile\.write\b|\bfile_put_contents\b/,
  ],
  [/\b(?:xargs|find)\b/, /\b(?:sed|perl|rm|mv)\b|-delete\b/],
]

const rewritingGit = setOf(
  'checkout switch restore reset stash pull merge rebase revert cherry-pick apply am clean mv rm worktree',
)
/** These write files unless an option prevents it. */
const writers =
  /^(?:black|isort|rustfmt|swiftformat|patch|jscodeshift|ast-grep|comby|pre-commit|lint-staged|dprint fmt|(?:cargo|go|terraform) fmt|(?:cargo|go) fix|go generate|(?:ruff|mix|dotnet) format)(?: |$)/
/** These write files with a flag that means something else in other programs. */
const writersByFlag =
  /^(?:prettier|gofmt|gofumpt|goimports|shfmt|clang-format|autopep8|yapf|rubocop) (?:.* )?-[wiaA](?: |$)/
const writingFlag = /(?:^| )--(?:write|fix|apply|in-place|auto-?correct(?:-all)?)(?: |=|$)/
const lookingFlag = /(?:^| )--?(?:check|diff|dry-run|help|version)(?: |=|$)/
const runners = setOf('npm pnpm yarn bun deno make just task mise rake gradle')
/** Names of scripts with which projects rewrite their files: `format`, `lint:fix`, `db-migrate`. */
const rewritingScript = /(?:^|[:\s_-])(?:format|fmt|fix|generate|gen|codegen|codemod|migrate|update)\b/

function isRewrite({ words }: Command): boolean {
  const [program = '', ...rest] = words
  const line = words.join(' ')
  if (program === 'git') {
    const [verb = '', next = ''] = gitWords(rest)
    return rewritingGit.has(verb) && !(/^(?:stash|worktree)$/.test(verb) && /^(?:list|show)$/.test(next))
  }
  if (lookingFlag.test(line)) return false
  if (writingFlag.test(line) || writers.test(line) || writersByFlag.test(line)) return true
  return runners.has(program) && rewritingScript.test(rest.join(' ')) && !/[:_-]check\b/.test(line)
}

/** Removes `-C FOLDER`, `-c NAME=VALUE` and other options before the verb. */
export function gitWords(words: readonly string[]): readonly string[] {
  let at = 0
  while (words[at]?.startsWith('-')) at += /^-[Cc]$/.test(words[at] ?? '') ? 2 : 1
  return words.slice(at)
}

const reading = setOf(
  'cd ls cat head tail wc grep rg ag find pwd echo which type file stat du df tree nl sort uniq cut jq date env printenv true',
)
const readingGit = setOf('status diff log show rev-parse ls-files blame')

export function onlyReads({ words, text, into }: Command): boolean {
  const [program = '', ...rest] = words
  if (into.some((name) => name !== '/dev/null') || /-exec\b|-delete\b|--output\b|\$\(|`/.test(text)) return false
  if (program === 'sed') return rest.includes('-n') && !rest.some((word) => /^-[a-z]*i/.test(word))
  if (program !== 'git') return reading.has(program)
  const [verb = '', next] = gitWords(rest)
  return (
    readingGit.has(verb) || (verb === 'branch' && next === '--show-current') || (verb === 'remote' && next === '-v')
  )
}

/** The purpose of a command. The first two verify the work; a check changes nothing. */
export type Purpose = 'check' | 'build' | 'git' | 'other'

const runner =
  'npm|pnpm|yarn|bun|deno|mise|just|task|make|rake|nx|turbo|npx|uv|poetry|hatch|composer|gradle|gradlew|mvn|sbt|dotnet|cargo|go|mix|swift|flutter|dart|zig|bazel|lein|stack|cabal'
/** Tests, linters and type checkers, then builds. Matches the task of a runner, or the program. */
const purposes: readonly (readonly [Purpose, RegExp])[] = [
  purpose('check', {
    task: '(?:tests?|lint|fmt|format|clippy|vet|type-?check|types|check|analyze)',
    program:
      'vitest|jest|mocha|ava|pytest|py\\.test|tox|nox|rspec|phpunit|ctest|playwright test|cypress run|bats|unittest|nextest|eslint|biome|golangci-lint|ruff|flake8|pylint|rubocop|prettier|stylelint|shellcheck|hadolint|actionlint|gofmt|black|ktlint|swiftlint|pre-commit|tsc|tsgo|vue-tsc|mypy|pyright|pyre|flow check',
  }),
  purpose('build', {
    task: '(?:build|compile|package|assemble|bundle)',
    program:
      'docker(?: buildx)? build|cmake|ninja|webpack|vite build|tsup|tsdown|esbuild|rollup|xcodebuild|make(?= [\\w-]|$)',
  }),
  ['git', /^(?:git|gh|glab|hub|jj)\b/],
]

function purpose(name: Purpose, given: CommandNames): readonly [Purpose, RegExp] {
  return [name, taskPattern(given)]
}

type CommandNames = { readonly task: string; readonly program: string }

/** Matches a command that gives a runner this task or runs this program. Both arguments are parts of a pattern. */
export function taskPattern({ task, program }: CommandNames): RegExp {
  const asked = String.raw`\b(?:${runner})\b(?:\s+(?:run|exec|-\S+|x))*\s+[\w:.-]*${task}\b`
  return new RegExp(String.raw`${asked}|(?<![\w-])(?:${program})(?![\w-])`)
}

const notJudged = setOf('grep rg cat ls find sed awk echo head tail which mkdir rm cp mv cd')

/** True for programs that do not run what their arguments name. */
export function isOnlyTalk(program: string): boolean {
  return notJudged.has(program)
}

export function purposeOf(commands: readonly Command[]): Purpose {
  const judged = commands.filter(({ words }) => !isOnlyTalk(words[0] ?? ''))
  return purposes.find(([, pattern]) => judged.some(({ bare }) => pattern.test(bare)))?.[0] ?? 'other'
}

/** Tests and checks change nothing, unless an option makes them fix their findings. */
function isCheck(command: Command): boolean {
  if (purposeOf([command]) !== 'check') return false
  return !isRewrite(command) && command.into.length === 0 && !/ (?:-[wui]|--update\S*)(?: |$)/.test(command.bare)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}
