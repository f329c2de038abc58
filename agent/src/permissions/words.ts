// The words of a shell command, as far as they are known before it runs.
import { homedir } from 'node:os'
import type { ParsedScript, Word as WordNode, WordPart } from 'unbash'
import { escapeGlob } from '../files/glob.ts'
import { expandBraces } from './braces.ts'

export type Word =
  | { readonly type: 'literal'; readonly text: string }
  /** The shell substitutes the files that match; `text` is a glob. */
  | { readonly type: 'pattern'; readonly text: string }
  /** Known only at run time. Unless `isOne` is set, it may become any number of words. */
  | { readonly type: 'unknown'; readonly source: string; readonly isOne: boolean }

export type Words = readonly Word[]

/** Other commands that a command runs. */
export type StartedPrograms = {
  readonly commands?: readonly Words[]
  /** Texts that run as shell scripts. */
  readonly scripts?: readonly Word[]
  /** The reason why something may run that the words do not show. */
  readonly unseen?: string
}

export function literal(text: string): Word {
  return { type: 'literal', text }
}

export const anyWords: Word = { type: 'unknown', source: 'its input', isOne: false }

/** The shell substitutes such a path for `<(…)`. */
export const pipePath = '/dev/fd/63'

/** Undefined if the word is not known. */
export function textOf(word: Word | undefined): string | undefined {
  return word?.type === 'literal' ? word.text : undefined
}

/** True if the word matches, or if it may match because it is unknown. */
export function mayBe(word: Word, pattern: RegExp): boolean {
  const text = textOf(word)
  return text === undefined || pattern.test(text)
}

/** The node as one word, for places where the shell does not split it. */
export function wordOf(node: WordNode): Word {
  const [only, ...more] = wordsOf(node)
  if (only === undefined || more.length > 0) return { type: 'unknown', source: node.text, isOne: true }
  return only
}

/** Several words if it has braces. */
export function wordsOf(node: WordNode): Words {
  const unknown: Words = [{ type: 'unknown', source: node.text, isOne: isQuoted(node) }]
  if (node.parts === undefined) return plain(node) ?? unknown
  let words: readonly WordPieceText[] = [{ literal: '', pattern: '', isPattern: false }]
  for (const [at, part] of node.parts.entries()) {
    const isTilde = at === 0 && part.text.startsWith('~')
    const pieces = isTilde ? (part.text === '~' ? undefined : home(part.text)) : piecesOf(part)
    if (pieces === undefined || pieces.length * words.length > maxWords) return unknown
    words = words.flatMap((start) => pieces.map((piece) => joined(start, piece)))
  }
  if (words.some(({ isPattern, pattern }) => isPattern && pattern.length > maxPattern)) return unknown
  return words.map(({ isPattern, literal: text, pattern }) =>
    isPattern ? { type: 'pattern', text: pattern } : literal(text),
  )
}

const maxWords = 256
const maxPattern = 1_000

/** Without quotes, expansions or patterns. */
function plain({ text, value }: WordNode): Words | undefined {
  return text.startsWith('~') ? home(value)?.map((piece) => literal(piece.literal)) : [literal(value)]
}

/** Of the tilde forms, only the person's own home folder is known. */
function home(text: string): readonly WordPieceText[] | undefined {
  return text === '~' || text.startsWith('~/') ? [known(homedir() + text.slice(1))] : undefined
}

/** `"$@"` is quoted but may still become any number of words. */
function isQuoted({ parts = [], text }: WordNode): boolean {
  return !text.includes('@') && parts.every(({ type }) => type === 'Literal' || /Quoted$|^LocaleString$/.test(type))
}

type WordPieceText = { readonly literal: string; readonly pattern: string; readonly isPattern: boolean }

function joined(a: WordPieceText, b: WordPieceText): WordPieceText {
  return {
    literal: a.literal + b.literal,
    pattern: a.pattern + b.pattern,
    isPattern: a.isPattern || b.isPattern,
  }
}

function known(text: string): WordPieceText {
  return { literal: text, pattern: escapeGlob(text), isPattern: false }
}

/** The alternatives. Undefined if the part is known only at run time. */
function piecesOf(part: WordPart): readonly WordPieceText[] | undefined {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [known(part.value)]
    case 'DoubleQuoted':
    case 'LocaleString': {
      const texts = part.parts.map((each) => (each.type === 'Literal' ? each.value : hereDocument(each)))
      return texts.includes(undefined) ? undefined : [known(texts.join(''))]
    }
    case 'Glob':
      // Named classes, as in `[[:alpha:]]`, are not read.
      return /\[[:.=]/.test(part.text) ? undefined : [{ literal: '', pattern: part.text, isPattern: true }]
    case 'ProcessSubstitution':
      return [known(pipePath)]
    case 'BraceExpansion':
      return part.parts === undefined ? expandBraces(part.text, maxWords)?.map(known) : undefined
    default:
      return undefined
  }
}

/** The text of `$(cat <<'EOF' …)`, which is how agents write longer arguments. */
function hereDocument(part: WordPart): string | undefined {
  const script: ParsedScript | undefined = part.type === 'CommandExpansion' ? part.script : undefined
  const [statement, ...more] = script?.commands ?? []
  const command = statement?.command
  if (more.length > 0 || command?.type !== 'Command' || command.name?.text !== 'cat') return undefined
  const [only] = [...command.prefix, ...command.suffix]
  if (command.prefix.length + command.suffix.length !== 1 || only?.type !== 'HereDoc') return undefined
  const isKnown = (only.body.parts ?? []).every(({ type }) => type === 'Literal')
  return isKnown && only.operator === '<<' ? only.body.text.replace(/\n+$/, '') : undefined
}
