// The building blocks of contenders: the recorded summary, and the newest messages that fit.

import { messagesOf } from 'everlong/internal'
import { readTranscript, type Transcript } from 'everlong/internal/node'
import { type Case, shownIn } from './cases.ts'
import { countTokens } from './measure.ts'

/** What the context holds after a compaction; never more tokens than the budget. The model's answer may be given. */
export type Contender = (found: Case, budget: number, summary?: string) => Promise<string>

const sessions = new Map<string, Transcript>()

/** The session as it was then; the last few are remembered. */
export function sessionOf({ path, at }: Case): Transcript {
  const known = sessions.get(`${path} ${at}`)
  if (known) return known
  const session = readTranscript(path, { before: at, withFacts: true })
  sessions.clear()
  sessions.set(`${path} ${at}`, session)
  return session
}

/** The summary that the recorded compaction got from its model, without what its client wrote around it. */
export function recordedSummary(found: Case): string {
  return sessionOf(found).recordedSummary ?? ''
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

/** As much of the end as fits after the given beginning. */
export function endOf(text: string, budget: number, before = ''): string {
  const joined = (length: number) => `${before}${text.slice(text.length - length)}`
  return joined(maxThatFits(text.length, (length) => countTokens(joined(length)) <= budget))
}

/** As much of the beginning as fits. */
export function startOf(text: string, budget: number): string {
  return text.slice(
    0,
    maxThatFits(text.length, (length) => countTokens(text.slice(0, length)) <= budget),
  )
}

function maxThatFits(most: number, fits: (length: number) => boolean): number {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}
