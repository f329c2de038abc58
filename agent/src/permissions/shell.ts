// Takes a shell command apart for permission rules. It understands little on purpose: whatever it does not know for sure
// is not a simple command, and somebody is asked.

/** The words of each command, without quotes. */
export type Words = readonly string[]

/** Outside quotes these may start another program, redirect, expand to something, or group commands. */
const doubtful = new Set(['$', '`', '<', '>', '(', ')', '{', '}', '\\', '!', '#', '*', '?', '[', ']', '~', '^', '='])
/** At the start of a command these are the shell's own grammar. */
const keywords = new Set(
  'if then elif else fi for while until do done case esac select function time coproc in . source eval exec'.split(' '),
)

/**
 * The simple commands of a script that `&&`, `||`, `;`, `|` or line ends separate; undefined when it holds anything
 * else: substitutions, redirections, variables, groups, patterns, escapes, keywords.
 */
export function simpleCommands(script: string): readonly Words[] | undefined {
  const commands: string[][] = [[]]
  let word: string | undefined
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.push(word)
    word = undefined
  }
  for (let at = 0; at < script.length; at++) {
    const char = script[at] ?? ''
    if (char === "'" || char === '"') {
      const end = script.indexOf(char, at + 1)
      const quoted = script.slice(at + 1, end)
      if (end < 0 || (char === '"' && /[$`\\!]/.test(quoted)) || hasControl(quoted)) return undefined
      word = (word ?? '') + quoted
      at = end
    } else if (char === ' ' || char === '\t') endWord()
    else if (char === ';' || char === '\n' || char === '|' || char === '&') {
      const isDouble = script[at + 1] === char
      // One `&` runs in the background; `;;`, `|&` and the like are grammar that we do not follow.
      if (isDouble ? char === ';' : char === '&' || (char === '|' && script[at + 1] === '&')) return undefined
      if (isDouble && char !== '\n') at++
      endWord()
      commands.push([])
    } else if (hasControl(char) || (doubtful.has(char) && !isPlainArgument(char, word, commands.at(-1))))
      return undefined
    else word = (word ?? '') + char
  }
  endWord()
  const found = commands.filter(({ length }) => length > 0)
  const isKnown = found.every(([first = '']) => !keywords.has(first) && first !== '')
  return found.length > 0 && isKnown ? found : undefined
}

/** `=` in the middle of an argument (`--flag=x`) and `^`, `~`, `!` after its first letter (`HEAD~2`) mean themselves. */
function isPlainArgument(char: string, word: string | undefined, command: Words | undefined): boolean {
  if (word === undefined) return false
  return char === '=' ? (command?.length ?? 0) > 0 : '^~!#'.includes(char) && !word.includes('=')
}

function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they may hide what a command does
  return /[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)
}

/** Programs that run the command after them, with their flags. */
const starters =
  /^(?:sudo|doas|env|command|exec|nohup|time|nice|ionice|xargs|timeout|stdbuf|setsid|eval|builtin|\w+=.*)$/
const shells = /^(?:ba|z|da|k|fi)?sh$/

/**
 * The commands that a script may run, found generously, for rules that forbid. The program is named without its
 * folder.
 */
export function possibleCommands(script: string): readonly Words[] {
  const strict = simpleCommands(script)
  if (strict) return strict.flatMap(unwrapped)
  const pieces = script.split(/[;&|()<>`{}\n]|\$\(|\s-(?:exec|execdir|ok|okdir|c)\s/)
  return pieces.flatMap((piece) =>
    unwrapped(
      piece
        .replace(/["'\\]/g, '')
        .split(/\s+/)
        .filter(Boolean),
    ),
  )
}

function unwrapped(words: Words): readonly Words[] {
  const [first, ...rest] = words
  if (first === undefined) return []
  const name = first.split('/').at(-1) ?? first
  const own: readonly Words[] = [[name, ...rest]]
  const inner = rest.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word))
  if (inner >= 0) return [...own, ...unwrapped(rest.slice(inner + 1))]
  const script = shells.test(name) ? rest[rest.findIndex((word) => /^-\w*c$/.test(word)) + 1] : undefined
  if (script !== undefined && script !== rest[0]) return [...own, ...possibleCommands(script)]
  if (!starters.test(name)) return own
  // Flags and numbers of the starter are skipped; a flag's value may be taken for the program, so each is looked at.
  return [...own, ...rest.flatMap((_, at) => (at < 4 ? unwrapped(rest.slice(at)) : []))]
}

/** Commands that only look, in this form. They still ask; plan mode lets them. */
const looking = /^(?:ls|pwd|cat|head|tail|wc|file|stat|du|df|which|whoami|date|echo|grep|rg|tree|uname)$/
const lookingGit = /^(?:status|log|diff|show|blame|ls-files|rev-parse|shortlog|describe)$/

export function onlyLooks(script: string): boolean {
  const commands = simpleCommands(script)
  return (
    commands?.every(([program = '', sub = '', ...rest]) => {
      if (program !== 'git') return looking.test(program) && !(program === 'rg' && /^--pre/.test([sub, ...rest].join()))
      return lookingGit.test(sub) && !rest.some((word) => /^(?:-o|--output|--ext-diff|--textconv|-O|--open)/.test(word))
    }) ?? false
  )
}
