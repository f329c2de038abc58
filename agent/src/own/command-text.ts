// The text of a command file: shell commands in it (!`git diff`), and the arguments that are filled in. Commands are found
// before, so that no argument becomes one.

export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  /** Its output takes its place. */
  | { readonly type: 'command'; readonly command: string }

/** A `!` at the start of a word, and the command in backticks after it. */
export function partsOf(body: string): readonly PromptPart[] {
  const parts: PromptPart[] = []
  let end = 0
  for (const { 0: mark, 1: command = '', index } of body.matchAll(/(?<!\S)!`([^`\n]+)`/g)) {
    parts.push({ type: 'text', text: body.slice(end, index) }, { type: 'command', command: command.trim() })
    end = index + mark.length
  }
  return [...parts, { type: 'text' as const, text: body.slice(end) }].filter(
    (part) => part.type === 'command' || part.text !== '',
  )
}

const place = /\$(ARGUMENTS\b|[1-9]\b)/g
/** Also with the quotes around it: it gets its own. */
const placeInCommand = /(["']?)\$(ARGUMENTS\b|[1-9]\b)\1/g

export const placeRule =
  'write $1 or $ARGUMENTS as an argument of its own, not inside of quotes or in place of a program'

/**
 * Whether a quoted word can stand for each `$1`: not inside of quotes, a comment, a here-document or arithmetic, where the
 * quotes would mean something else, and not where a program stands.
 */
export function isFillable(command: string): boolean {
  return [...command.matchAll(placeInCommand)].every(({ index }) => {
    const before = command.slice(0, index).replace(/'[^']*'|"[^"$\\]*"/g, 'x')
    return (
      !/["'\\#]|<<|\(\(|\[\[|\$\[|\$\{/.test(before) &&
      !/(?:^|[;|&({]|\b(?:if|then|else|elif|do|while|until))\s*$/.test(before)
    )
  })
}

/** `$ARGUMENTS` is all of it, `$1` to `$9` its words, in commands as words of the shell. Without any of them, it follows the text. */
export function withArguments(parts: readonly PromptPart[], words: string): readonly PromptPart[] {
  const each = [...words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
  const isAsked = parts.some((part) => (part.type === 'text' ? part.text : part.command).search(place) >= 0)
  if (!isAsked) return words === '' ? parts : [...parts, { type: 'text', text: `\n\n${words}` }]
  const one = (name: string) => (name === 'ARGUMENTS' ? words : (each[Number(name) - 1] ?? ''))
  return parts.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text.replace(place, (_, name: string) => one(name)) }
      : {
          type: 'command',
          command: part.command.replace(placeInCommand, (_, quote: string, name: string) =>
            name === 'ARGUMENTS' && quote === '' ? each.map(shellWord).join(' ') : shellWord(one(name)),
          ),
        },
  )
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
