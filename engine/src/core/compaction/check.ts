// Holds a summary against its source. It marks doubts behind the words they are about and removes nothing: the model has
// read everything, and what code cannot confirm may still be true.
import type { Ledger } from '../ledger/facts.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import { headOf } from '../text/cut.ts'
import { wellFormed } from '../text/well-formed.ts'
import { annotateApprovals, annotateQuotes, annotateStateClaims, isHarmful, isQuotedFrom } from './page/claims.ts'
import { plainWords } from './page/plain-words.ts'
import { sourceText, unknownNames } from './page/unknown-names.ts'

/** The messages are everything that the summary may rest on, kept ones included. */
export type CheckInput = { readonly messages: readonly ViewMessage[]; readonly ledger: Ledger }

export type Checked = Pick<FidelityReport, 'falseQuotes' | 'inferredApprovals' | 'contradicted' | 'unsupported'> & {
  readonly text: string
  /** Those of the approvals that could do harm: said again at the top of the context. */
  readonly harmful: readonly string[]
}

const longestReported = 200

export function checkSummary(written: string, { messages, ledger }: CheckInput): Checked {
  const summary = wellFormed(written)
  const quotes = annotateQuotes(summary, createIsSaid({ messages, ledger }))
  const approvals = annotateApprovals(quotes.text, ledger.exchanges)
  const state = annotateStateClaims(approvals.text, ledger)
  const short = (texts: readonly string[]) => texts.map((text) => headOf(text, longestReported))
  return {
    text: state.text,
    falseQuotes: short(quotes.found),
    inferredApprovals: short(approvals.found),
    harmful: short(approvals.found.filter(isHarmful)),
    contradicted: short(state.found),
    unsupported: unknownNames(summary, { messages, known: knownTexts(ledger) }),
  }
}

/** In what the user said first, then anywhere: a model may quote what the user pasted or pointed at. */
function createIsSaid({ messages, ledger }: CheckInput): (quote: string) => boolean {
  let words: readonly string[] | undefined
  let all: readonly string[] | undefined
  return (quote) => {
    words ??= ledger.exchanges.map(({ text }) => plainWords(text))
    if (isQuotedFrom(quote, words)) return true
    all ??= messages.map((message) => plainWords(sourceText(message)))
    return isQuotedFrom(quote, all)
  }
}

/** What earlier rounds knew and the messages may not show any more. */
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
