// Those that are measured: each makes, from what came before a compaction, the text that it would leave for the model
// within a number of tokens. A peer is one more line here.
import { composeSummary, textOf } from 'everlong'
import { messagesOf } from 'everlong/transcript'
import { type Case, shownIn } from './cases.ts'
import { ledgerOf } from './ledger-of.ts'
import { countTokens } from './measure.ts'

/** What the context holds afterwards; never more tokens than the budget. */
export type Contender = (found: Case, budget: number) => string

export const contenders: Readonly<Record<string, Contender>> = {
  'ours, offline': (found, budget) => ours(found, { budget }),
  'ours, recorded summary': (found, budget) => ours(found, { budget, prose: recordedSummary(found) }),
  'newest that fit': (found, budget) => truncated(found, { budget, most: Number.POSITIVE_INFINITY }),
  'last 10 messages': (found, budget) => truncated(found, { budget, most: 10 }),
}

function ours(
  found: Case,
  { budget, prose }: { readonly budget: number; readonly prose?: string | undefined },
): string {
  const { text } = composeSummary({
    source: { messages: messagesOf(found.before), ledger: ledgerOf(found), kept: [] },
    ...(prose === undefined ? {} : { prose }),
    budget,
    ledgerBudget: budget,
    countTokens,
  })
  return text
}

/** The summary that the recorded compaction got from its model, without what its client wrote around it. */
export function recordedSummary(found: Case): string {
  const text = messagesOf(found.left)
    .filter(({ origin }) => origin === 'summary')
    .map(({ content }) => textOf(content))
    .join('\n\n')
  return text
    .replace(/<analysis>[\s\S]*?<\/analysis>/g, '')
    .replace(/^This session is being continued[\s\S]*?(?=^(?:Summary:|Analysis:|#|1\.))/m, '')
    .replace(
      /^(?:Please continue the conversation|If you need specific details|Continue the conversation from where)[\s\S]*$/m,
      '',
    )
    .trim()
}

export function recordedContext(found: Case): string {
  return messagesOf(found.left).map(shownIn).join('\n')
}

/** The newest messages that fit whole, and the end of the one before them. */
function truncated(found: Case, { budget, most }: { readonly budget: number; readonly most: number }): string {
  const shown = messagesOf(found.before).slice(-most).map(shownIn)
  let text = ''
  for (const message of shown.toReversed()) {
    const longer = text === '' ? message : `${message}\n${text}`
    if (countTokens(longer) > budget) return endOf(longer, budget)
    text = longer
  }
  return text
}

/** As much of the end as fits. */
function endOf(text: string, budget: number): string {
  let [low, high] = [0, text.length]
  while (low < high) {
    const kept = (low + high + 1) >> 1
    if (countTokens(text.slice(-kept)) <= budget) low = kept
    else high = kept - 1
  }
  return low === 0 ? '' : text.slice(-low)
}
