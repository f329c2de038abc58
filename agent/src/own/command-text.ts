// The text of a command file: its shell commands (!`git diff`), and its arguments. Commands are found before arguments are filled
// in, so that no argument becomes a command.

export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  /** Its output replaces it. */
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
/** Includes quotation marks around it, because the argument gets its own. */
const placeInCommand = /(["']?)\$(ARGUMENTS\b|[1-9]\b)\1/g

export const placeRule =
  'write $1 or $ARGUMENTS as an argument of its own, not inside of quotes or in place of a program'

/**
 * True if a quoted word can replace each `$1`. Not inside quotes, comments, here-documents or arithmetic, where quotes mean
 * something else, and not in the place of a program.
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

/**
 * `$ARGUMENTS` is the whole text, `$1` to `$9` are its words; in commands they are quoted for the shell. If there are none, the
 * text is appended.
 */
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
