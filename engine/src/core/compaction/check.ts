// Compares a summary with its source. Marks doubts next to the words concerned and removes nothing: the model has read
// everything, and a claim that code cannot confirm may still be true.
import type { Ledger } from '../ledger/facts.ts'
import { blocksOf, isText, isToolResult, isToolUse, textOf, type ViewMessage } from '../message/message.ts'
import type { FidelityReport } from '../ports/hooks.ts'
import { headOf, wellFormed } from '../text/cut.ts'
import { plainWords } from '../text/plain-words.ts'
import { doNow, type Work } from '../text/slices.ts'
import { annotateApprovals, annotateQuotes, annotateStateClaims, isHarmful, isQuotedFrom } from './page/claims.ts'

/** The messages are all sources of the summary, including kept ones. */
export type CheckInput = { readonly messages: readonly ViewMessage[]; readonly ledger: Ledger }

export type Checked = Pick<FidelityReport, 'falseQuotes' | 'inferredApprovals' | 'contradicted' | 'unsupported'> & {
  readonly text: string
  /** The approvals that could do harm. They are repeated at the top of the context. */
  readonly harmful: readonly string[]
}

const maxReportedLength = 200

export function checkSummary(written: string, input: CheckInput): Checked {
  return doNow(checking({ written, ...input }))
}

export function* checking({ written, messages, ledger }: CheckInput & { readonly written: string }): Work<Checked> {
  const summary = wellFormed(written)
  const quotes = annotateQuotes(summary, yield* findingQuotes(summary, { messages, ledger }))
  const approvals = annotateApprovals(quotes.text, ledger.exchanges)
  const state = annotateStateClaims(approvals.text, ledger)
  const short = (texts: readonly string[]) => texts.map((text) => headOf(text, maxReportedLength))
  return {
    text: state.text,
    falseQuotes: short(quotes.found),
    inferredApprovals: short(approvals.found),
    harmful: short(approvals.found.filter(isHarmful)),
    contradicted: short(state.found),
    unsupported: yield* findingUnknownNames(summary, { messages, known: knownTexts(ledger) }),
  }
}

/** Searches the user's messages first, then everything, because a model may quote text that the user pasted or pointed at. */
function* findingQuotes(summary: string, { messages, ledger }: CheckInput): Work<(quote: string) => boolean> {
  const words = ledger.exchanges.map(({ text }) => plainWords(text))
  const { found } = annotateQuotes(summary, (quote) => isQuotedFrom(quote, words))
  const all = found.length === 0 ? [] : yield* plainTexts(messages)
  return (quote) => isQuotedFrom(quote, words) || isQuotedFrom(quote, all)
}

function* plainTexts(messages: readonly ViewMessage[]): Work<readonly string[]> {
  const texts: string[] = []
  for (const message of messages) {
    const text = sourceText(message)
    texts.push(plainWords(text))
    yield text.length
  }
  return texts
}

/** Facts of earlier compactions that the messages may no longer show. */
function knownTexts({ files, exchanges, commits, commands, todos, repository, root }: Ledger): readonly string[] {
  return [
    ...files.map(({ path }) => path),
    ...exchanges.map(({ text, about = '', report = '' }) => `${text}\n${about}\n${report}`),
    ...commits.map(({ hash, title }) => `${hash} ${title}`),
    ...commands.map(({ text, outcome }) => `${text} ${outcome}`),
    ...todos.map(({ text }) => text),
    `${repository.branch ?? ''} ${root ?? ''}`,
  ]
}

/** An address; a path with a folder and an ending, or with two folders; a hash; an identifier; a number of four digits. */
const names =
  /https?:\/\/[^\s<>"'`)\]]{4,300}|(?<![\w./-])(?:[\w@.~-]{1,80}\/){1,20}[\w@-]{1,80}\.[A-Za-z]\w{0,9}\b|(?<![\w./-])(?:[\w@.~-]{1,80}\/){2,20}[\w@.-]{2,80}|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b[a-z][a-z0-9]{0,60}(?:[A-Z][a-z0-9]{1,60}){1,20}\b|\b[A-Za-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,20}\b|(?<![\w.,-])\d{4,20}(?![\w.,-]*\w)/g

const maxSummary = 200_000
const maxNames = 16

type Source = { readonly messages: readonly ViewMessage[]; readonly known: readonly string[] }

/** Names in a summary that do not occur in its source. They may be wrong. */
export function* findingUnknownNames(summary: string, { messages, known }: Source): Work<readonly string[]> {
  const found = [...new Set(summary.slice(0, maxSummary).match(names) ?? [])]
  const missing = new Set(found.flatMap((name) => groundsOf(name).flat()))
  const look = (text: string): number => {
    const small = text.toLowerCase()
    for (const word of missing) if (small.includes(word)) missing.delete(word)
    return text.length
  }
  for (const text of known) yield look(text)
  // Newest first, because summaries are mostly about recent messages.
  for (let at = messages.length - 1; at >= 0 && missing.size > 0; at--) yield look(sourceText(messages[at]))
  const isKnown = (name: string) => groundsOf(name).some((words) => words.every((word) => !missing.has(word)))
  return found.filter((name) => !isKnown(name)).slice(0, maxNames)
}

/** Sets of words, one of which must be known: the name itself, or all parts of a path or member. */
function groundsOf(name: string): readonly (readonly string[])[] {
  const small = name.toLowerCase()
  const whole = small.replace(/^#|s$/g, '').replace(/[.,;:]+$/, '')
  const parts = small.includes('://') ? [] : small.split(/[/.:#@~]+/).filter((part) => part.length >= 2)
  return parts.length < 2 ? [[whole]] : [[whole], parts]
}

/** The text of a message, including tool inputs but not thinking or media. */
export function sourceText(message: ViewMessage | undefined): string {
  return blocksOf(message?.content ?? '')
    .map((block) => {
      if (isText(block)) return block.text
      if (isToolUse(block)) return [block.name, ...wordsIn(block.input)].join('\n')
      return isToolResult(block) ? textOf(block.content) : ''
    })
    .join('\n')
}

function wordsIn(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, part]) => [key, ...wordsIn(part)])
    : [value]
}
