// Finds the commands that a script may run, for rules that deny. It looks generously: behind keywords, wrappers and options,
// in substitutions, in scripts given as text. It reads text only, so what a program computes while it runs stays unseen.
import { simpleCommands, type Words } from './shell.ts'

/** Words of the shell's grammar that a command may follow. */
const leading = /^(?:if|then|elif|else|while|until|do|!|coproc|time)$/
/** Programs that run the one behind them, and their flags; variables before a command. */
const starters =
  /^(?:sudo|doas|su|runuser|env|command|exec|nohup|time|nice|ionice|chrt|taskset|xargs|parallel|timeout|stdbuf|unbuffer|setsid|eval|builtin|trap|script|watch|flock|strace|ltrace|ssh-agent|busybox|toybox|chroot|unshare|nsenter|systemd-run|\w+=.*)$/
const shells = /^(?:ba|z|da|k|fi)?sh$/
const interpreters = /^(?:python|node|deno|bun|perl|ruby|php|lua|[gmn]?awk)[\d.]*$/
/** Options of git before its subcommand; these take a value. */
const gitValues = /^(?:-c|-C|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/
const mostWords = 200
const deepest = 8

/** The program is named without its folder. */
export function possibleCommands(script: string, depth = 0): readonly Words[] {
  if (depth > deepest) return []
  const strict = simpleCommands(script)
  const commands = strict ?? loosely(withVariables(unescaped(script)))
  const isFed = commands.some(([first = '']) => shells.test(nameOf(first)) || first === '.' || first === 'source')
  return commands.flatMap((words) => unwrapped(words, { depth, isFed }))
}

/** Joins continued lines and decodes `$'…'`. */
function unescaped(script: string): string {
  return script.replace(/\\\n/g, '').replace(/\$'((?:[^'\\]|\\.)*)'/gs, (_, text: string) =>
    text.replace(/\\(?:x([\da-f]{1,2})|u([\da-f]{1,4})|([0-7]{1,3})|(.))/gis, (whole, ...groups) => {
      const [hex, unicode, octal, other] = groups as readonly (string | undefined)[]
      const code = hex ?? unicode
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
      return octal === undefined ? (other ?? whole) : String.fromCodePoint(Number.parseInt(octal, 8))
    }),
  )
}

/** Puts in what the script itself says: its variables, defaults, and `$(echo …)`. */
function withVariables(script: string): string {
  const values = new Map<string, string>()
  for (const [, name = '', value = ''] of script.matchAll(/(?:^|[\s;&|(])(\w+)=("[^"]*"|'[^']*'|[^\s;&|()]*)/g)) {
    values.set(name, value.replace(/["']/g, ''))
  }
  return script
    .replace(/\$\{\w+:?[-=]([^{}]*)\}/g, '$1')
    .replace(/\$\((?:echo|printf)\s+([^()]*)\)/g, '$1 ')
    .replace(/\$(?:(\w+)|\{(\w+)\})/g, (whole, plain, braced) => values.get(plain ?? braced) ?? whole)
}

function loosely(script: string): readonly Words[] {
  const pieces = script.split(/[;&|()<>`\n]|\$\(|(?<![\w,.*?\]])\{|\}(?![\w.*?[])|\s-(?:exec|execdir|ok|okdir|c)\s/)
  return pieces.map((piece) =>
    piece
      .replace(/["'\\]/g, '')
      .split(/\s+/)
      .filter(Boolean),
  )
}

type Where = {
  readonly depth: number
  /** The script starts a shell, so what is printed may be run. */
  readonly isFed: boolean
}

/** The command, and every one that may be behind it. Each start and each text is looked at once. */
function unwrapped(words: Words, { depth, isFed }: Where): readonly Words[] {
  const found: Words[] = []
  const starts = new Set([0])
  let isWrapped = false
  for (const start of starts) {
    const first = words[start]
    if (first === undefined) continue
    const name = nameOf(first)
    const rest = start === 0 ? words.slice(1) : words.slice(start + 1, start + mostWords)
    found.push([name, ...rest], ...inside(name, rest, depth + 1))
    const isStarter = starters.test(name) || (isFed && /^(?:echo|printf)$/.test(name))
    isWrapped ||= isStarter
    // A flag's value may be taken for the program, so each of the next words is looked at.
    for (const step of isStarter ? [1, 2, 3, 4, 5, 6] : leading.test(name) ? [1] : []) starts.add(start + step)
    const inner = rest.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word))
    if (inner >= 0) starts.add(start + inner + 2)
  }
  const texts = isWrapped ? words.filter((word) => /\s/.test(word)) : []
  return [...found, ...texts.flatMap((text) => possibleCommands(text, depth + 1))]
}

/** Commands in the arguments: of a shell, of an interpreter, of git. */
function inside(name: string, rest: Words, depth: number): readonly Words[] {
  if (shells.test(name)) {
    const flag = rest.findIndex((word) => /^-\w*c$/.test(word))
    const script = flag < 0 ? undefined : rest[flag + 1]
    return script === undefined ? [] : possibleCommands(script, depth)
  }
  if (interpreters.test(name)) {
    const texts = rest.filter((word) => /["'`(]/.test(word)).flatMap((code) => code.split(/["'`(),[\]{}]/))
    return texts.filter((text) => text.trim() !== '').flatMap((text) => possibleCommands(text, depth))
  }
  return name === 'git' ? behindGitOptions(rest, depth) : []
}

/** `git -C x push` is `git push`, and `-c alias.x='!rm a'` may run `rm`. */
function behindGitOptions(rest: Words, depth: number): readonly Words[] {
  let at = 0
  const found: Words[] = []
  while (rest[at]?.startsWith('-')) {
    const isPair = gitValues.test(rest[at] ?? '')
    if (rest[at] === '-c') found.push(...possibleCommands((rest[at + 1] ?? '').replace(/^[^=]*=!?/, ''), depth))
    at += isPair ? 2 : 1
  }
  return at === 0 ? found : [...found, ['git', ...rest.slice(at)]]
}

function nameOf(word: string): string {
  return word.split('/').at(-1) ?? word
}
