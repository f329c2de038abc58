// Whether a deny rule covers a command: yes, no, or depending on words that are known only at run time.
import { glob } from '../files/glob.ts'
import { programOf } from './programs.ts'
import { type Rule, ruleWords } from './rule.ts'
import type { Script } from './script.ts'
import { anyWords, textOf, type Word, type Words } from './words.ts'

export type Coverage =
  | { readonly type: 'yes' }
  | { readonly type: 'no' }
  | { readonly type: 'maybe'; readonly why: string }

export const yes: Coverage = { type: 'yes' }
export const no: Coverage = { type: 'no' }

/** The first certain one, otherwise the first possible one. */
export function firstOf(coverages: Iterable<Coverage>): Coverage {
  let possible: Coverage | undefined
  for (const each of coverages) {
    if (each.type === 'yes') return each
    if (each.type === 'maybe') possible ??= each
  }
  return possible ?? no
}

export function maybe(word: Word): Coverage {
  const shown = word.type === 'unknown' ? word.source : word.text
  return { type: 'maybe', why: `${shown.slice(0, 100).toWellFormed()} is only known when it runs` }
}

/** For rules about a whole script: an invisible part may be what the rule denies. */
export function unseenIn({ unseen }: Script): Coverage {
  const [why] = unseen
  return why === undefined ? no : { type: 'maybe', why }
}

export function commandCoverage(rule: Rule, script: Script): Coverage {
  if (rule.type === 'any') return yes
  if (rule.type === 'command' && rule.script === script.text.trim()) return yes
  const ofCommands = script.commands.flatMap(withoutOptions).map((words) => coverageOf(rule, words))
  return firstOf([...ofCommands, unseenIn(script)])
}

/** Also tries the words without the options between a program and its subcommand: `npm --silent publish`. */
function withoutOptions(words: Words): readonly Words[] {
  const [program] = words
  // The options of git are known and already left out.
  if (program === undefined || programOf(program) === 'git') return [words]
  const starts = new Set([1])
  for (const at of starts) {
    if (starts.size > maxOptions) return [words, [program, anyWords]]
    const text = textOf(words[at])
    if (!text?.startsWith('-')) continue
    starts.add(at + 1)
    // The next word may be its value.
    if (!text.includes('=')) starts.add(at + 2)
  }
  return [...starts].map((at) => [program, ...words.slice(at)])
}

const maxOptions = 50

function coverageOf(rule: Rule, words: Words): Coverage {
  switch (rule.type) {
    case 'command-prefix':
      return startsWith(words, rule.words)
    case 'command': {
      const own = ruleWords(rule.script)
      if (own === undefined) return no
      const [extra] = words.slice(own.length)
      const covered = startsWith(words, own)
      if (extra === undefined || covered.type === 'no') return covered
      // It is another command with one more word, unless that may turn out to be nothing.
      return extra.type === 'unknown' && !extra.isOne ? maybe(extra) : no
    }
    case 'command-pattern':
      return matches(words, rule.pattern)
    default:
      return no
  }
}

function startsWith(words: Words, expected: readonly string[]): Coverage {
  let possible: Coverage | undefined
  for (const [at, each] of expected.entries()) {
    const word = words[at]
    if (word === undefined) return no
    if (word.type === 'unknown') {
      possible ??= maybe(word)
      // An unknown program may run the words after it, and a word that may become none or several shifts the others.
      if (at === 0 || !word.isOne) return possible
    } else if (word.type === 'pattern') {
      // A pattern for a program is a path that may lead to any program.
      return at === 0 || glob(word.text)(each) ? maybe(word) : no
    } else if (at === 0 ? nameOf(word.text) !== nameOf(each) : word.text !== each) return no
  }
  return possible ?? yes
}

function nameOf(program: string): string {
  return program.split('/').at(-1) ?? program
}

/** `*` stands for any text. A pattern that ends with ` *` also covers the command without arguments. */
export function commandPattern(pattern: string): RegExp {
  const source = pattern
    .split(/(?<!\\)\*+/)
    .map((part) => part.replaceAll('\\*', '*').replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('[\\s\\S]*')
  return new RegExp(
    `^${source.endsWith(anyArguments) ? `${source.slice(0, -anyArguments.length)}(?:${anyArguments})?` : source}$`,
  )
}

const anyArguments = ' [\\s\\S]*'

/** Spaces inside of a word are no spaces between words. */
export function commandText(words: readonly string[]): string {
  return words.map((word) => word.replaceAll(' ', '\u00a0')).join(' ')
}

function matches(words: Words, pattern: string): Coverage {
  const at = words.findIndex(({ type }) => type !== 'literal')
  const known = (at < 0 ? words : words.slice(0, at)).map((word) => textOf(word) ?? '')
  const [first = '', ...rest] = known
  const text = commandText(known.length === 0 ? [] : [nameOf(first), ...rest])
  const unknown = words[at]
  if (unknown === undefined) return commandPattern(pattern).test(text) ? yes : no
  const [head = ''] = pattern.split(/(?<!\\)\*/)
  return head.startsWith(text) || text.startsWith(head) ? maybe(unknown) : no
}
