// What contenders are put together from: the recorded summary, and the newest messages that fit.
import { textOf } from 'everlong'
import { messagesOf } from 'everlong/transcript'
import { type Case, shownIn } from './cases.ts'
import { countTokens } from './measure.ts'

/** What the context holds after a compaction; never more tokens than the budget. */
export type Contender = (found: Case, budget: number) => string

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
export function truncated(found: Case, { budget, most }: { readonly budget: number; readonly most: number }): string {
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
export function endOf(text: string, budget: number): string {
  const kept = mostThatFits(text.length, (length) => countTokens(text.slice(text.length - length)) <= budget)
  return text.slice(text.length - kept)
}

/** As much of the beginning as fits. */
export function startOf(text: string, budget: number): string {
  return text.slice(
    0,
    mostThatFits(text.length, (length) => countTokens(text.slice(0, length)) <= budget),
  )
}

function mostThatFits(most: number, fits: (length: number) => boolean): number {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}
