// What a context keeps of what came before it: the atoms that the agent used later, what people typed, the files
// and commands, the rules; and what it claims that is found nowhere.
import { countTokens as countMessages } from 'everlong'
import { messagesOf, type ViewMessage } from 'everlong/internal'
import { atomsOf } from './atoms.ts'
import { type Case, shownIn } from './cases.ts'
import { ledgerOf } from './ledger-of.ts'

/** How tokens are counted, the same for everybody: most of the sessions are of models of this family. */
export const counting = { model: 'claude-sonnet-4-5' } as const
export const countTokens = (text: string) => countMessages([{ role: 'user', content: text }], counting)

/** The questions for every context of a case. */
export type Questions = {
  readonly needed: readonly string[]
  /** Atoms that also occur outside the margin of a file. */
  readonly apart: readonly string[]
  readonly human: readonly string[]
  readonly edited: readonly string[]
  readonly commands: readonly string[]
  readonly rules: readonly string[]
  /** Everything that the model had seen, with its records. */
  readonly source: string
}

export type Scores = {
  readonly tokens: number
  readonly recall: number
  /** The same, numbers that only a margin of line numbers showed left out. */
  readonly recallApart: number
  readonly human: number
  readonly edited: number
  readonly commands: number
  readonly rules: number
  /** Atoms of the context that do not occur before it and that it does not mark as doubtful. */
  readonly unsupported: number
}

export function questionsOf(found: Case): Questions {
  const messages = messagesOf(found.before)
  const shown = messages.map(shownIn).join('\n')
  const had = atomsOf(shown)
  const apart = atomsOf(shown.replace(/^ *\d+[→\t|]/gm, ''))
  const needed = [...atomsOf(found.written)].filter((atom) => had.has(atom))
  const ledger = ledgerOf(found)
  return {
    needed,
    apart: needed.filter((atom) => apart.has(atom)),
    human: messages
      .filter(({ origin }) => origin === 'human')
      .map(typed)
      .filter((text) => text !== ''),
    edited: ledger.files.map(({ path }) => path),
    commands: ledger.commands.map(({ text }) => text),
    rules: ledger.rules.map(({ text }) => text),
    source:
      `${found.path}\n${shown}\n${[...found.earlier, ...found.before].map(({ record }) => wordsOf(record)).join('\n')}`.toLowerCase(),
  }
}

/** What was typed: of a slash command the command and its words, not the tags its client writes around them. */
function typed(message: ViewMessage): string {
  const text = shownIn(message).trim()
  const name = /<command-name>([^<]+)<\/command-name>/.exec(text)?.[1]?.trim()
  if (name === undefined) return text
  return `${name} ${/<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? ''}`.trim()
}

export function score(context: string, questions: Questions): Scores {
  const flat = squeezed(context)
  const words = wordSet(context)
  const share = (wanted: readonly string[], has: (text: string) => boolean) =>
    wanted.length === 0 ? 1 : wanted.filter(has).length / wanted.length
  return {
    tokens: countTokens(context),
    recall: share(questions.needed, (atom) => holds(context, { atom, words })),
    recallApart: share(questions.apart, (atom) => holds(context, { atom, words })),
    human: share(questions.human, (text) => flat.includes(squeezed(text))),
    edited: share(questions.edited, (path) => namesFile(context, path)),
    commands: share(questions.commands, (text) => flat.includes(squeezed(text).slice(0, 80))),
    rules: share(questions.rules, (text) => flat.includes(squeezed(text))),
    unsupported: unsupported(context, questions.source).length,
  }
}

/** The needed atoms that a context lacks. */
export function missingIn(context: string, { needed }: Questions): readonly string[] {
  const words = wordSet(context)
  return needed.filter((atom) => !holds(context, { atom, words }))
}

/** The atom is there as a word of its own, not inside a longer one. */
function holds(
  context: string,
  { atom, words }: { readonly atom: string; readonly words: ReadonlySet<string> },
): boolean {
  if (/^\w+$/.test(atom)) return words.has(atom)
  for (let at = context.indexOf(atom); at >= 0; at = context.indexOf(atom, at + 1)) {
    if (!/\w/.test(context[at - 1] ?? '') && !/\w/.test(context[at + atom.length] ?? '')) return true
  }
  return false
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\w$]+/g)?.flatMap((word) => [word, ...word.split('$')]))
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** The path, or as much of its end as tells it from another file of the same name. */
function namesFile(context: string, path: string): boolean {
  const parts = path.split(/[\\/]/)
  return [path, parts.slice(-3).join('/'), parts.slice(-2).join('/')].some((end) => context.includes(end))
}

const doubt = /^Named above and found nowhere in the conversation.*$/gm

/** Counts: positions of lines, numbers of lines, omitted lines. They are correct although they occur nowhere. */
const counted =
  /\(lines [\d–, ]+ of \d+|\[lines \d+ to \d+ were|(?<=\d)–\d+|(?<=\d of )\d+|(?<=… )\d+(?= (?:lines|characters))|(?<=has |room for its )\d+(?= tokens)|(?<=\[line )\d+|\bnot_restored\b/g

export function unsupported(context: string, source: string): readonly string[] {
  const doubted = [...context.matchAll(doubt)].join('\n')
  const claimed = atomsOf(context.replace(doubt, '').replace(counted, ''))
  return [...claimed].filter((atom) => !isKnown(atom.toLowerCase(), source) && !doubted.includes(atom))
}

/** A path may be written with another beginning, a name with its member, in the plural: every part must be known. */
function isKnown(atom: string, source: string): boolean {
  if (source.includes(atom) || source.includes(atom.replace(/s$/, ''))) return true
  if (atom.includes('://')) return false
  const parts = atom.split(/[/.:#@~]+/).filter((part) => part.length >= 2)
  return parts.length > 1 && parts.every((part) => source.includes(part))
}

/** The strings, numbers and keys of a value. */
function wordsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, part]) => `${Array.isArray(value) ? '' : key} ${wordsOf(part)}`)
    .join('\n')
}
