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
