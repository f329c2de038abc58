// Splits a shell script into its commands and their words. It knows quotes, redirections, here-documents and comments, and
// nothing of what programs do: that is in shell-effects.ts.

export type Command = {
  /** As written. */
  readonly text: string
  /** The program first, without what only starts it (variables, `sudo`, `npx` …). Quotes are removed. */
  readonly words: readonly string[]
  /** The words with "" in place of what was quoted: a message about a test is not a test. */
  readonly bare: string
  /** Files that its output is redirected to. */
  readonly into: readonly string[]
  /** It reads a here-document. */
  readonly hasDocument: boolean
  /** Its input comes from the command before it. */
  readonly isPiped: boolean
}

/** Here-documents are contents of files, not commands. */
export function withoutDocuments(script: string): string {
  return script.includes('<<')
    ? script.replace(/<<-?[ \t]*(['"]?)(\w+)\1([^\n]*)[\s\S]*?(?:^[ \t]*\2[ \t]*$|(?![\s\S]))/gm, '<<$2…$3')
    : script
}

export function commandsIn(script: string): readonly Command[] {
  const text = withoutDocuments(script)
  const commands: Command[] = []
  const reader = createReader()
  let start = 0
  let isPiped = false
  const endAt = (at: number) => {
    const command = reader.end()
    if (command.words.length > 0) commands.push({ ...command, text: text.slice(start, at).trim(), isPiped })
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (char === '"' || char === "'") at = reader.quote(text, at)
    else if (char === '\\') at = reader.escape(text, at)
    else if (char === '#' && reader.isBetweenWords()) at = lineEnd(text, at) - 1
    else if (char === '>' || char === '<' || (char === '&' && text[at + 1] === '>')) at = reader.redirect(text, at)
    else if (isOperator(char)) {
      endAt(at)
      isPiped = char === '|' && text[at + 1] !== '|'
      while (isOperator(text[at + 1] ?? '')) at++
      start = at + 1
    } else if (/\s/.test(char)) reader.endWord()
    else reader.add(char)
  }
  endAt(text.length)
  return commands
}

function isOperator(char: string): boolean {
  return char === ';' || char === '|' || char === '&' || char === '\n'
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

type Word = { readonly text: string; readonly isQuoted: boolean }
type Redirection = 'into' | 'from' | 'document'

/** Gathers the words of one command. What moves through the text returns where it stopped. */
function createReader() {
  let words: Word[] = []
  let into: string[] = []
  let hasDocument = false
  let word: { text: string; isQuoted: boolean } | undefined
  let redirection: Redirection | undefined
  const add = (text: string, isQuoted = false) => {
    word = { text: (word?.text ?? '') + text, isQuoted: isQuoted || word?.isQuoted === true }
  }
  const endWord = () => {
    if (!word) return
    if (redirection === 'into') into.push(word.text)
    if (redirection === 'document') hasDocument = true
    if (redirection === undefined) words.push(word)
    word = undefined
    redirection = undefined
  }
  return {
    add: (char: string) => add(char),
    endWord,
    isBetweenWords: () => word === undefined,
    quote: (text: string, at: number): number => {
      const mark = text[at] ?? ''
      let end = text.indexOf(mark, at + 1)
      while (mark === '"' && end > 0 && text[end - 1] === '\\') end = text.indexOf(mark, end + 1)
      if (end < 0) end = text.length
      add(text.slice(at + 1, end), true)
      return end
    },
    /** A line that ends with a backslash goes on in the next. */
    escape: (text: string, at: number): number => {
      if (text[at + 1] !== '\n') add(text[at + 1] ?? '')
      return at + 1
    },
    redirect: (text: string, at: number): number => {
      const [sign = '', copied] = /(?:&?>>?|<{1,3}-?)(&[\d-])?/y.exec(text.slice(at, at + 6)) ?? []
      // The number of a stream before the sign is not a word.
      if (word && /^\d$/.test(word.text)) word = undefined
      endWord()
      if (copied === undefined)
        redirection = sign.startsWith('<<') ? 'document' : sign.startsWith('<') ? 'from' : 'into'
      return at + Math.max(1, sign.length) - 1
    },
    end: () => {
      endWord()
      const own = words.slice(startsProgram(words.map(({ text }) => text)))
      const found = {
        words: own.map(({ text }, at) => (at === 0 ? (text.split('/').at(-1) ?? text) : text)),
        bare: words.map(({ text, isQuoted }) => (isQuoted ? '""' : text)).join(' '),
        into,
        hasDocument,
      }
      ;[words, into, hasDocument, redirection] = [[], [], false, undefined]
      return found
    },
  }
}

/** Variables, keywords of the shell, and programs that start the one behind them. */
const before = /^(?:\w+=.*|sudo|time|env|command|exec|nohup|npx|bunx|pnpx|uvx|timeout|\d+[smh]?|\(+|\{|!|do|then|else)$/

function startsProgram(words: readonly string[]): number {
  const start = words.findIndex((word) => !before.test(word))
  return start < 0 ? Math.max(0, words.length - 1) : start
}
