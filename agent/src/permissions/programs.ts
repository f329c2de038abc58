// Other commands that a program runs: the command after `sudo`, the script in `bash -c`, the code in `python -c`. For rules, a
// program that is not listed here runs nothing else.
import { gitStarts } from './git.ts'
import { anyWords, literal, mayBe, pipePath, type StartedPrograms, textOf, type Word, type Words } from './words.ts'

/** `input` is the text that the script gives the program on standard input, if it does. */
export function startedBy(words: Words, input: Word | undefined): StartedPrograms {
  const [first, ...rest] = words
  const program = programOf(first)
  if (program === undefined) return {}
  // The parser takes the value of `X=<(a) b` for the program.
  if (textOf(first) === pipePath) return { commands: [rest], unseen: 'a program may run what it reads from a pipe' }
  const git = /^git-(.+)$/.exec(program)?.[1]
  if (git !== undefined) return { commands: [[literal('git'), literal(git), ...rest]] }
  if (program === 'git') return gitStarts(rest)
  if (shells.test(program)) return shellStarts(program, rest, input)
  if (program === '.' || program === 'source') return sourced(rest, input)
  if (program === 'find') return findStarts(rest)
  if (program === 'xargs') return xargsStarts(rest)
  // Without a command, it runs its input lines.
  if (program === 'parallel') return { ...xargsStarts(rest), unseen: codeOf(program) }
  if (program === 'eval') return { scripts: [joined(rest)] }
  if (program === 'trap') return { scripts: rest.filter((word) => !isFlag(word)).slice(0, 1) }
  if (program === 'alias') return { scripts: rest.map(afterSign) }
  if (arithmetic.test(program)) return { scripts: rest.filter((word) => /\$\(|`/.test(textOf(word) ?? '')) }
  const interpreter = interpreters.find(({ name }) => name.test(program))
  if (interpreter) return interpreterStarts(program, rest, interpreter)
  if (program === 'sed' || awks.test(program)) return runsText(program, rest) ? { unseen: codeOf(program) } : {}
  const options = startingOptions.get(program)
  if (program === 'shopt') return { unseen: 'shopt changes how the shell reads the rest' }
  const mayRun = freeRunners.has(program) || (options && beforeDashes(rest).some((word) => mayBe(word, options)))
  return { ...wrapped(program, rest), ...(mayRun ? { unseen: codeOf(program) } : {}) }
}

/** After `--` there are no options. */
function beforeDashes(words: Words): Words {
  const end = words.findIndex((word) => textOf(word) === '--')
  return end < 0 ? words : words.slice(0, end)
}

/** The name of a program without its folder. */
export function programOf(word: Word | undefined): string | undefined {
  return textOf(word)?.split('/').at(-1)
}

function codeOf(program: string): string {
  return `${program} can run code of its own`
}

const shells = /^(?:ba|z|da|a|k|mk|fi|c|tc)?sh$|^rbash$/
/** These evaluate their arguments as arithmetic, which runs substitutions in them. */
const arithmetic = /^(?:let|test|\[|declare|typeset|local|export|readonly|unset|read|printf)$/
const awks = /^[gmn]?awk$/

/** Programs that run the command after their options and this many further words. */
const wrappers = new Map<string, number>(
  Object.entries({
    ...{ sudo: 0, doas: 0, su: 1, runuser: 0, env: 0, command: 0, builtin: 0, exec: 0, nohup: 0, time: 0, nice: 0 },
    ...{ ionice: 0, chrt: 1, taskset: 1, timeout: 1, stdbuf: 0, unbuffer: 0, setsid: 0, watch: 0, flock: 1, strace: 0 },
    ...{
      ltrace: 0,
      busybox: 0,
      toybox: 0,
      chroot: 1,
      unshare: 0,
      nsenter: 0,
      'systemd-run': 0,
      'ssh-agent': 0,
      ssh: 1,
    },
    ...{ npx: 0, pnpx: 0, bunx: 0, uvx: 0, fakeroot: 0, caffeinate: 0, 'xvfb-run': 0, script: 0, hash: 0 },
  }),
)

/** `npm exec x`, `poetry run x`. */
const subcommandWrappers: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:npm|pnpm|yarn|bun)$/, /^(?:exec|x|dlx)$/],
  [/^(?:bundle|poetry|uv|pipenv|mise|direnv|rbenv|pyenv|nix|conda)$/, /^(?:exec|run|x)$/],
]

function wrapped(program: string, rest: Words): StartedPrograms {
  const operands = wrappers.get(program)
  if (operands !== undefined) return candidates(rest, operands)
  const sub = subcommandWrappers.find(([name]) => name.test(program))?.[1]
  const at = sub ? rest.findIndex((word) => !textOf(word)?.startsWith('-')) : -1
  const word = rest[at]
  return sub && word && mayBe(word, sub) ? candidates(rest.slice(at + 1), 0) : {}
}

/**
 * The commands that may start in these words: after the options, which may have values, after assignments and after this many
 * operands. A candidate with a space may also be a script, as in `su -c 'rm x'`.
 */
function candidates(words: Words, operands: number): StartedPrograms {
  const commands: Words[] = []
  const scripts: Word[] = []
  let plain = 0
  for (const [at, word] of words.entries()) {
    const text = textOf(word)
    if (text !== undefined && /^-|^\w+=/.test(text)) continue
    const isValue = isOption(words[at - 1])
    const isMovable = word.type === 'unknown' && !word.isOne
    if (!isValue && !isMovable && ++plain <= operands) continue
    if (text !== undefined && /\s/.test(text)) scripts.push(word)
    commands.push(startOf(words, at))
    if (!isValue && text !== undefined) break
    if (commands.length >= maxCandidates) return { commands, scripts, unseen: 'it has too many options' }
  }
  return { commands, scripts }
}

const maxCandidates = 50
const maxStartWords = 200

/** The words from here on, limited for a very long command. */
function startOf(words: Words, at: number): Words {
  const rest = words.slice(at, at + maxStartWords)
  return at + maxStartWords < words.length ? [...rest, anyWords] : rest
}

function isOption(word: Word | undefined): boolean {
  const text = textOf(word) ?? ''
  return text.startsWith('-') && !text.includes('=') && text !== '--'
}

function isFlag(word: Word): boolean {
  return /^[-+]./.test(textOf(word) ?? '')
}

function shellStarts(program: string, rest: Words, input: Word | undefined): StartedPrograms {
  const isValue = (at: number) => /^(?:[-+]\w*[oO]|--rcfile|--init-file)$/.test(textOf(rest[at - 1]) ?? '')
  const at = rest.findIndex((word, index) => !isFlag(word) && !isValue(index))
  const operand = rest[at]
  const has = (pattern: RegExp) => (at < 0 ? rest : rest.slice(0, at)).some((word) => pattern.test(textOf(word) ?? ''))
  if (has(/^-C|^--(?:init-)?command/)) return { unseen: codeOf(program) }
  if (has(/^-\w*c\w*$/)) return operand ? { scripts: [operand] } : {}
  if (operand === undefined && has(/^--(?:version|help)$/)) return {}
  if (operand && !isInput(operand) && !has(/^-\w*s\w*$/)) return { commands: [rest.slice(at)] }
  return input ? { scripts: [input] } : { unseen: `${program} runs its input` }
}

function sourced([file]: Words, input: Word | undefined): StartedPrograms {
  if (file?.type === 'unknown') return { unseen: `${file.source} may be run` }
  if (!isInput(file)) return {}
  return input ? { scripts: [input] } : { unseen: 'source runs its input' }
}

/** Standard input, or a pipe that the shell has created. */
function isInput(word: Word | undefined): boolean {
  return /^-$|^\/dev\/|^\/proc\//.test(textOf(word) ?? '')
}

function findStarts(rest: Words): StartedPrograms {
  const commands: Words[] = []
  for (const [at, word] of rest.entries()) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(textOf(word) ?? '')) continue
    const after = rest.slice(at + 1)
    const end = after.findIndex((each) => /^[;+]$/.test(textOf(each) ?? ''))
    commands.push(filled(end < 0 ? after : after.slice(0, end), '{}'))
  }
  const unknown = rest.find(({ type }) => type === 'unknown')
  return { commands, ...(unknown ? { unseen: codeOf('find') } : {}) }
}

/** The command with words from the input: at the end, or at the place that `-I` names. */
function xargsStarts(rest: Words): StartedPrograms {
  const at = rest.findIndex((word) => /^-[Ii]|^--replace/.test(textOf(word) ?? ''))
  const [, attached = ''] = /^(?:-[Ii]|--replace=?)(.*)$/s.exec(textOf(rest[at]) ?? '') ?? []
  const mark = attached || (textOf(rest[at]) === '-I' ? textOf(rest[at + 1]) : undefined) || '{}'
  const { commands = [], scripts = [], ...more } = candidates(rest, 0)
  const shell: readonly Words[] = scripts.map((script) => [literal('sh'), literal('-c'), script])
  return { commands: [...commands, ...shell].map((words) => [...filled(words, mark), anyWords]), ...more }
}

function filled(words: Words, mark: string): Words {
  return words.map((word) => (textOf(word)?.includes(mark) ? { type: 'unknown', source: mark, isOne: true } : word))
}

function joined(words: Words): Word {
  const unknown = words.find(({ type }) => type !== 'literal')
  return unknown ?? literal(words.map((word) => textOf(word) ?? '').join(' '))
}

/** `q=rm` concerns `rm`. */
function afterSign(word: Word): Word {
  const text = textOf(word)
  return text === undefined ? word : literal(text.replace(/^[^=]*=?/, ''))
}

type Interpreter = {
  readonly name: RegExp
  /** Options that are code or come before it. */
  readonly code: RegExp
  /** The option after which the interpreter has no more options. */
  readonly last?: RegExp
}

const interpreters: readonly Interpreter[] = [
  { name: /^(?:python|pypy)[\d.]*w?$/, code: /^-[a-zA-Z]*c/, last: /^-[a-zA-Z]*m$/ },
  { name: /^(?:perl|ruby)[\d.]*$/, code: /^-[a-zA-Z]*[eEnpMm]/ },
  { name: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/, code: /^-(?:e|p|pe)\b|^--(?:eval|print)|^eval$|data:/ },
  {
    name: /^(?:php|lua|luajit|tclsh|osascript|Rscript|R|julia|octave|ghc|groovy|scala)[\d.]*$/,
    code: /^-[a-zA-Z]*[rRBFeE]|^--eval/,
  },
]

function interpreterStarts(program: string, rest: Words, { code, last }: Interpreter): StartedPrograms {
  const own = { unseen: codeOf(program) }
  const commands: Words[] = []
  for (const [at, word] of rest.entries()) {
    const before = rest[at - 1]
    const text = textOf(word)
    if (text !== undefined && code.test(text)) return own
    if (isFlag(word)) continue
    if (isInput(word)) return own
    commands.push(startOf(rest, at))
    // After an option it may be the option's value, and the program comes later.
    if (!isOption(before) || last?.test(textOf(before) ?? '')) break
    if (commands.length >= maxCandidates) return own
  }
  const isAsked = rest.some((word) => /^(?:-v|-V|-h|--version|--help|--test)$/.test(textOf(word) ?? ''))
  return commands.length > 0 || isAsked ? { commands } : own
}

/** True if the program of sed or awk may do more than print its input. */
function runsText(program: string, rest: Words): boolean {
  if (rest.some(({ type }) => type === 'unknown')) return true
  const { code, other, value, isPrinting } = program === 'sed' ? sed : awk
  const scripts: string[] = []
  const operands: string[] = []
  for (const [at, word] of rest.entries()) {
    const text = textOf(word) ?? '|'
    const before = textOf(rest[at - 1]) ?? ''
    const attached = code.exec(text)?.[1]
    if (code.exec(before)?.[1] === '') scripts.push(text)
    else if (other.test(text)) return true
    else if (attached !== undefined && attached !== '') scripts.push(attached)
    else if (!text.startsWith('-') && !value.test(before)) operands.push(text)
  }
  const given = scripts.length > 0 ? scripts : operands.slice(0, 1)
  return given.some((text) => !isPrinting(text))
}

/** How programs get their code: by an option, which may be attached to it, from elsewhere, or as the first operand. */
type Scripted = {
  readonly code: RegExp
  readonly other: RegExp
  /** Other options with a value. */
  readonly value: RegExp
  readonly isPrinting: (text: string) => boolean
}

const sed: Scripted = {
  code: /^-[nrEsuz]*e([\s\S]*)$/,
  other: /^-[nrEsuz]*f|^--(?:e|fi)/,
  value: /^-[nrEsuz]*l$/,
  isPrinting: (text) => printingSed.test(text),
}

const awk: Scripted = {
  code: /^-e([\s\S]*)$/,
  other: /^-[fEilD]|^--(?:e|fil|i|l|s|d)/,
  value: /^-[Fv]$/,
  isPrinting: (text) => !reachingAwk.test(text),
}

/** Substitutions without `e` and `w`, and commands that print, delete or stop, each with an address. */
const printingSed = (() => {
  const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)`
  const text = String.raw`(?:(?!\1)[^\\\n]|\\.)*`
  const substitution = String.raw`s([/|#,:@!])${text}\1${text}\1[gpiI\d]*`
  const command = String.raw`(?:${address}(?:,(?:\+\d+|${address}))?!?)?\s*(?:${substitution}|[pdqD=])`
  return new RegExp(String.raw`^\s*(?:${command}\s*(?:;\s*|$))+$`)
})()

/** Commands, other files, calls by name, and redirections and pipes after `print`. */
const reachingAwk = /system|getline|ARG[VC]|@|print[\s\S]*[|>]/

/** Options with which programs run commands. */
const startingOptions = new Map<string, RegExp>(
  Object.entries({
    tar: /^-\w*[IF]|^--(?:to-|ch|use|rsh|info|new-v|compress-p)/,
    rsync: /^-\w*e|^--rs/,
    sort: /^--comp/,
    split: /^--fil/,
    rg: /^--pre|^--hostname-bin/,
    ssh: /command/i,
    scp: /command|^-S/i,
    man: /^-P|^--pag/,
    zip: /^-TT|^--unz/,
    make: /^--ev|SHELL=|^-$|^-f-$|^--(?:file|makefile)=-$/,
    npm: /^--(?:script-shell|node-options)|^script-shell|^scripts\./,
    nc: /^-\w*[ec]/,
    ncat: /^-\w*[ec]|^--(?:exec|sh-exec)/,
    psql: /\\!|^-f|^--file/,
    mapfile: /^-C/,
    readarray: /^-C/,
    complete: /^-C/,
    enable: /^-f/,
    bind: /^-x/,
  }),
)

/** Editors, consoles and schedulers that take commands as input. */
const freeRunners = new Set(
  'ed ex vi vim nvim view emacs gdb lldb expect sqlite3 mysql tmux screen at batch crontab socat dc gnuplot fc m4'.split(
    ' ',
  ),
)
