// Which files a shell command may have changed, as far as its words tell. When in doubt about a command that rewrites
// files (a formatter, a checkout, a script), every file may have changed.
import { withoutDocuments } from '../ledger/commands.ts'

export type ShellChanges = {
  /** Any file at all. */
  readonly isWide: boolean
  /** Files and folders, as written. */
  readonly names: readonly string[]
  /** Those that are gone afterwards: removed, or moved away. */
  readonly gone: readonly string[]
}

const longestCommand = 20_000

export function shellChanges(command: string): ShellChanges {
  const whole = command.slice(0, longestCommand)
  const commands = withoutDocuments(whole).split(/&&|\|\||[;|\n&]/)
  const isWide =
    rewrites.some(([who, what]) => who.test(whole) && what.test(whole)) ||
    commands.some((each) => isWideCommand(each.trim()))
  const names = commands.flatMap((each) => namesIn(each))
  return { isWide: isWide || names.some((name) => /[*?$`{]/.test(name)), names, gone: commands.flatMap(goneIn) }
}

export function mayChange({ isWide, names }: ShellChanges, path: string): boolean {
  return isWide || names.some((name) => isSame(name, path))
}

export function removes({ gone }: ShellChanges, path: string): boolean {
  return gone.some((name) => isSame(name, path))
}

function isSame(written: string, path: string): boolean {
  const name = written.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')
  return path === name || path.endsWith(`/${name}`) || path.startsWith(`${name}/`) || path.includes(`/${name}/`)
}

/** Code inside the command that writes files, and commands that are given files by another. */
const rewrites: readonly (readonly [RegExp, RegExp])[] = [
  [
    /\b(?:python3?|node|bun|deno|ruby|perl|php)\b/,
    /\bopen\([^)\n]{0,200}['"][wa]|\bwrite_text\b|\bwriteFile|\bappendFile|\bFile\.write\b|\bfile_put_contents\b/,
  ],
  [/\b(?:xargs|find)\b/, /\b(?:sed|perl|rm|mv)\b|-delete\b/],
]

const wideGit = new Set(
  'checkout switch restore reset stash pull merge rebase revert cherry-pick apply am clean mv rm worktree'.split(' '),
)
const formatters =
  /^(?:prettier|biome|eslint|standard|xo|dprint|stylelint|black|isort|ruff|autopep8|yapf|rustfmt|gofmt|gofumpt|goimports|clang-format|ktlint|swiftformat|rubocop|shfmt|terraform|jscodeshift|ast-grep|sg|comby|patch|dotnet|mix|cargo|go|pre-commit|lint-staged)$/
/** A formatter that only looks says so, or is not told to write. */
const writes: Readonly<Record<string, RegExp>> = {
  prettier: /\s(?:--write|-w)\b/,
  biome: /\s(?:--write|--apply|--fix)\b/,
  eslint: /\s--fix\b/,
  standard: /\s--fix\b/,
  xo: /\s--fix\b/,
  stylelint: /\s--fix\b/,
  ruff: /\sformat\b(?![\s\S]*--check)|\s--fix\b/,
  gofmt: /\s-w\b/,
  gofumpt: /\s-w\b/,
  goimports: /\s-w\b/,
  shfmt: /\s-w\b/,
  'clang-format': /\s-i\b/,
  rubocop: /\s(?:-a|-A|--auto)/,
  terraform: /\sfmt\b(?![\s\S]*-check)/,
  dotnet: /\sformat\b/,
  mix: /\sformat\b(?![\s\S]*--check)/,
  cargo: /\s(?:fmt\b(?![\s\S]*--check)|fix\b)|\s--fix\b/,
  go: /\s(?:fmt|generate|fix)\b/,
}
const scripts = /(?:^|[:\s_-])(?:format|fmt|fix|generate|gen|codegen|codemod|migrate|update)\b/
const runners = new Set(['npm', 'pnpm', 'yarn', 'bun', 'deno', 'make', 'just', 'task', 'mise', 'rake', 'gradle'])

function isWideCommand(command: string): boolean {
  const [program = '', second = ''] = wordsOf(command)
  if (program === 'git') {
    const verb = wordsOf(command.replace(/\s-[Cc]\s+\S+/g, '')).find((word, at) => at > 0 && !word.startsWith('-'))
    return wideGit.has(verb ?? '') && !/\bstash (?:list|show)\b|\bworktree list\b/.test(command)
  }
  if (runners.has(program)) return scripts.test(command.slice(command.indexOf(program) + program.length))
  if (!formatters.test(program)) return false
  const pattern = writes[program]
  return pattern ? pattern.test(command) : !/\s--?(?:check|diff|dry-run|help|version)\b/.test(`${command} ${second}`)
}

/** Programs that change what they are given. */
const changers = new Set('mv cp rm rmdir ln install truncate dd unzip tar rsync touch tee'.split(' '))

function namesIn(command: string): readonly string[] {
  const words = wordsOf(command)
  const [program = ''] = words
  const redirected = [...command.matchAll(/(?<![0-9&])>{1,2}\s*(["']?)([^\s"'<>&;|]+)\1/g)].map(
    (match) => match[2] ?? '',
  )
  const isInPlace =
    /^(?:sed|perl|ruby|gsed|awk|gawk)$/.test(program) && words.some((word) => /^-[a-z]*i|^--in-place/.test(word))
  const given = changers.has(program) || isInPlace ? words.slice(1).filter((word) => !word.startsWith('-')) : []
  return [...redirected, ...given].filter((name) => name !== '' && !name.startsWith('/dev/'))
}

function goneIn(command: string): readonly string[] {
  const words = wordsOf(command).filter((word) => !word.startsWith('-'))
  const [program, ...given] = words[0] === 'git' ? words.slice(1) : words
  if (program === 'rm') return given
  return program === 'mv' ? given.slice(0, -1) : []
}

/** Without variables, runners and wrappers in front of the program. */
function wordsOf(command: string): readonly string[] {
  const words = command.match(/"[^"]*"|'[^']*'|[^\s"']+/g)?.map((word) => word.replace(/^["']|["']$/g, '')) ?? []
  const start = words.findIndex(
    (word) => !/^(?:\w+=.*|sudo|time|env|command|exec|npx|bunx|pnpx|uvx|nohup|\(|\{|!)$/.test(word),
  )
  const rest = words.slice(Math.max(0, start))
  return [(rest[0] ?? '').split('/').at(-1) ?? '', ...rest.slice(1)]
}
