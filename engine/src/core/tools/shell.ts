// Splits a shell script into its commands and their words. What programs do is in shell-effects.ts.

export type Command = {
  /** The text in the script. */
  readonly text: string
  /** The program first, without the words that only start it (variables, `sudo`, `npx` …). Quotes are removed. */
  readonly words: readonly string[]
  /** The words with "" in place of quoted text, because a message about a test is not a test. */
  readonly bare: string
  readonly into: readonly string[]
  readonly hasDocument: boolean
  /** Its input comes from the command before it. */
  readonly isPiped: boolean
}

/** Removes here-documents, which are contents of files and not commands. Keeps the rest of the line that opens one. */
export function withoutDocuments(script: string): string {
  return script.includes('<<')
    ? script.replace(/<<-?[ \t]*(['"]?)(\w+)\1([^\n]*)[\s\S]*?(?:^[ \t]*\2[ \t]*$|(?![\s\S]))/gm, '<<$2…$3')
    : script
}

/** Matches a comment or a copied stream, which have no effect; the end of a command; a redirection; a word with its quotes. */
const token =
  /(?<=^|[\s;&|])#[^\n]*|\d?>&[\d-]|(?<end>(?:&(?!>)|[;|\n])+)|(?<redirection>(?:\d(?=[<>]))?(?:&?>>?|<{1,3}-?))|(?<word>(?:"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|\\[\s\S]?|[^\s;|&<>"'\\])+)/g

export function commandsIn(script: string): readonly Command[] {
  const text = withoutDocuments(script).replaceAll('\\\n', ' ')
  const commands: Command[] = []
  let parts: Part[] = []
  let start = 0
  let isPiped = false
  const finish = (at: number) => {
    const found = commandOf(parts)
    if (found.words.length > 0) commands.push({ text: text.slice(start, at).trim(), ...found, isPiped })
    parts = []
  }
  for (const { index, groups: { end, redirection, word } = {} } of text.matchAll(token)) {
    if (word !== undefined) parts.push({ isWord: true, text: word })
    else if (redirection !== undefined) parts.push({ isWord: false, text: redirection })
    else if (end !== undefined) {
      finish(index)
      start = index + end.length
      isPiped = end === '|'
    }
  }
  finish(text.length)
  return commands
}

type Part = { readonly isWord: boolean; readonly text: string }

/** A command that only sets a variable has no program. A file name in its value must not be taken for one. */
const setsVariable = /^\w+=/

/** Variables, keywords of the shell, and programs that start the next program. */
const starter =
  /^(?:\w+=.*|sudo|time|env|command|exec|nohup|npx|bunx|pnpx|uvx|timeout|\d+[smh]?|\(+|\{|!|do|then|else)$/

function commandOf(parts: readonly Part[]): Pick<Command, 'words' | 'bare' | 'into' | 'hasDocument'> {
  // The word after a redirection is a file, not an argument.
  const signBefore = (at: number) => (parts[at - 1]?.isWord === false ? parts[at - 1]?.text : undefined)
  const given = parts.filter(({ isWord }, at) => isWord && signBefore(at) === undefined).map(({ text }) => text)
  const words = given.map(unquoted)
  const program = words.findIndex((word) => !starter.test(word))
  const [first, ...rest] = program < 0 ? words.slice(-1) : words.slice(program)
  return {
    words: first === undefined ? [] : [setsVariable.test(first) ? first : (first.split('/').at(-1) ?? first), ...rest],
    bare: given.map((word) => (/["']/.test(word) ? '""' : word)).join(' '),
    into: parts.filter(({ isWord }, at) => isWord && signBefore(at)?.includes('>')).map(({ text }) => unquoted(text)),
    hasDocument: parts.some(({ isWord, text }) => !isWord && text.startsWith('<<')),
  }
}

function unquoted(word: string): string {
  return word.replace(/"((?:[^"\\]|\\[\s\S])*)"?|'([^']*)'?/g, (_, double, single) => double ?? single)
}
