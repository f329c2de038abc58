// The contexts of a session at the end of each epoch: everything that the agent could still see.

import { objectAt } from '../../message/json.ts'
import { blocksOf, isText, isToolUse, type ViewMessage } from '../../message/message.ts'
import { isRuleFile } from '../../restore/from-disk.ts'
import { contentWords, holdsWords, isCommonWord, plainWords } from '../../text/plain-words.ts'
import { changedBy, toolCall } from '../../tools/call.ts'
import type { Entry } from '../../transcript/format/entry.ts'
import { createScanner, type Epoch } from '../../transcript/tree/scan.ts'
import { createFold } from '../../transcript/view/fold.ts'
import { sourceText } from '../check.ts'
import { modelSummaryIn } from '../page/read-page.ts'
import { piecesOf } from '../plan.ts'

export type Context = {
  /** The compaction that starts it. Undefined for the first context. */
  readonly openedBy: Epoch['openedBy']
  /** Index of its first entry. */
  readonly start: number
  readonly uuids: ReadonlySet<string>
  /** The compaction was undone, or the conversation was rewound to before it. */
  readonly isUndone: boolean
  /** False if the summary is encrypted or not in the file, so that its content is unknown. */
  readonly isReadable: boolean
  /** True if anything in the context contains these plain words, including tool calls and results. */
  readonly holds: (words: string) => boolean
  /** The complete text. */
  readonly text: () => string
  /** The model's text of the summary. Empty for the first context. */
  readonly summary: string
  /** True if any text in it says this in any words: the summary, the user, the agent or the client. */
  readonly says: (words: readonly string[]) => boolean
  /** True if one written line has all of these names. */
  readonly names: (names: readonly string[]) => boolean
  /** True if any passage says this in any words, including tool calls and results. */
  readonly shows: (words: readonly string[]) => boolean
  /** True if a paraphrase of this text could be recognized in the context. */
  readonly isComparable: (text: string) => boolean
}

/** The topic of a text, for `says` and `shows`. */
export function topicOf(text: string): readonly string[] {
  return contentWords(text.replaceAll(/n['’]t\b/g, ' not'), stemOf)
}

const stemLength = 5

/** "Lists", "listed" and "listing" have one stem. So do "drop" and "dropped", and "class" and "classes". */
function stemOf(word: string): string {
  const [, bare = word] = /^(.{3,}?)(?:es|(?<!s)s|ed|ing|e)$/.exec(word) ?? []
  return bare.replace(/(?<=.{2})([bdgklmnprt])\1$/, '$1').slice(0, stemLength)
}

/** Oldest first; the last one is the current context. `entries` must be in the order of the file. */
export function contextsOf(entries: readonly Entry[]): readonly Context[] {
  const scanner = createScanner()
  for (const entry of entries) scanner.add(entry)
  const { epochs } = scanner.finish()
  if (epochs.length < 2) return []
  const fold = createFold()
  const written: string[] = []
  const contexts: Context[] = []
  let start = 0
  const close = (end: number) => {
    const { openedBy } = epochs[contexts.length] ?? {}
    contexts.push(contextOf(piecesOf(fold.view()), { openedBy, start, written: [...written], before: contexts.at(-1) }))
    start = end
  }
  for (const [at, entry] of entries.entries()) {
    const next = epochs[contexts.length + 1]?.openedBy
    if (next && next.line === entry.position.line && next.uuid === (entry.record.uuid ?? '')) close(at)
    fold.add(entry)
    written.push(...writtenRules(entry))
  }
  close(entries.length)
  return contexts
}

/** Text that the agent wrote into AGENTS.md and similar files, which clients add to every context. */
function writtenRules({ record }: Entry): readonly string[] {
  if (record.type !== 'assistant') return []
  return blocksOf(objectAt(record, 'message')?.content)
    .filter(isToolUse)
    .filter((block) => changedBy(toolCall(block)).some(isRuleFile))
    .map(({ input }) => JSON.stringify(input).replaceAll('\\n', '\n'))
}

type NewContext = Pick<Context, 'openedBy' | 'start'> & {
  readonly written: readonly string[]
  readonly before: Context | undefined
}

function contextOf(pieces: readonly ViewMessage[], { openedBy, start, written, before }: NewContext): Context {
  const uuids = new Set(pieces.flatMap(({ uuid }) => uuid ?? []))
  const [first] = before?.uuids ?? []
  const isUndone = openedBy?.isUndone === true || (first !== undefined && uuids.has(first))
  const summaries = pieces.filter(({ origin }) => origin === 'summary').map(proseOf)
  const isReadable = openedBy === undefined || isUndone || summaries.some((text) => text.trim() !== '')
  const prose = memoized(() => [...pieces.map(proseOf), ...written].join('\n'))
  const text = memoized(() => [...pieces.map(sourceText), ...written].join('\n'))
  const plain = memoized(() => plainWords(text()))
  const lines = memoized(() => prose().split('\n'))
  const said = memoized(() => createPassages(prose(), topicOf))
  const shown = memoized(() => createPassages(text(), topicOf))
  return {
    openedBy,
    start,
    uuids,
    isUndone,
    isReadable,
    text,
    summary: modelSummaryIn(summaries.at(-1) ?? ''),
    holds: (words) => holdsWords(plain(), plainWords(words)),
    says: (words) => said()(words),
    names: (names) => lines().some((line) => names.every((name) => line.includes(name))),
    shows: (words) => shown()(words),
    isComparable: (other) => areComparable(other, summaries.length === 0 ? prose() : summaries.join('\n')),
  }
}

function proseOf({ content }: ViewMessage): string {
  return blocksOf(content)
    .filter(isText)
    .map(({ text }) => text)
    .join('\n')
}

function memoized<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Share of a statement's content words that must occur in one passage of this many characters. */
const saidShare = 0.6
const passageLength = 1_200

/** Returns a function that checks whether some passage of the text has enough of these content words. */
function createPassages(text: string, wordsOf = contentWords): (words: readonly string[]) => boolean {
  const passages: ReadonlySet<string>[] = []
  // Passages overlap, so that a statement at the end of one is complete in the next.
  for (let at = 0; at < text.length; at += passageLength / 2) {
    passages.push(new Set(wordsOf(text.slice(at, at + passageLength))))
  }
  return (words) => passages.some((known) => words.filter((word) => known.has(word)).length >= words.length * saidShare)
}

/** About a third of the words in English prose are function words. In other languages a few percent look like them. */
const englishShare = 0.1

function isEnglish(text: string): boolean {
  const words = plainWords(text).trim().split(' ')
  return words.filter(isCommonWord).length >= words.length * englishShare
}

/** Scripts without spaces between words. A paraphrase in them cannot be recognized by its words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** True if a statement of one text could be found in the other by its words. */
function areComparable(text: string, other: string): boolean {
  return !unspaced.test(text) && isEnglish(text) === isEnglish(other)
}
