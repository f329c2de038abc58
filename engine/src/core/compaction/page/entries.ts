// The entries of the record: for each exchange the steps and the report of the agent, without what the summary says, what
// the agent said again later, and what another entry has already.
import type { Exchange, Ledger, Step } from '../../ledger/facts.ts'
import { interrupted, lastAction, withoutAnnouncement } from '../../ledger/steps.ts'
import { annotateStateClaims, isConsent } from './claims.ts'
import { isInSummary, isSameWords, searchable } from './complete-words.ts'
import { createIsSaid, type IsSaid, unsaidIn } from './said.ts'

/** The report, the agent's last words before the user spoke again, is a step in the place where it was said. */
export type RecordStep = { readonly type: Step['type'] | 'reported'; readonly text: string }

export type RecordEntry = {
  readonly exchange: Exchange
  /** The context quotes the user's words elsewhere, so the entry only names the request. */
  readonly isQuoted: boolean
  readonly steps: readonly RecordStep[]
}

export type EntryOptions = {
  /** The summary and the user's words next to it; empty without a model. */
  readonly alreadySaid: string
  readonly isSaid: IsSaid
  /** The request that the context ends with. */
  readonly closes?: Exchange | undefined
}

/**
 * Exchanges are read from the newest to the oldest, so that of two equal paragraphs the later one stays. One in which nothing
 * is new is left out, unless the entry before it has something: the user may contradict it here. The latest message is
 * left out too, because the context ends with it.
 */
export function recordEntries(ledger: Ledger, { alreadySaid, isSaid, closes }: EntryOptions): readonly RecordEntry[] {
  const where = alreadySaid === '' ? undefined : searchable(alreadySaid)
  const current = ledger.exchanges.findLast(({ steps = [] }) => steps.length > 0)
  const options = { isSaid, known: new Set<string>(), hasSummary: where !== undefined, ledger }
  const entries = ledger.exchanges
    .toReversed()
    .map((exchange) => ({
      exchange,
      isQuoted: isSameWords(exchange, closes) || (where !== undefined && isInSummary(exchange, where)),
      steps: newSteps(exchange, { ...options, isCurrent: exchange === current }),
    }))
    .toReversed()
  const mayContradict = (at: number) =>
    entries[at - 1]?.steps.some(({ type }) => type === 'reported') === true && at < entries.length - 1
  return entries.filter(
    ({ exchange, isQuoted, steps }, at) =>
      !isQuoted || steps.length > 0 || (mayContradict(at) && !isConsent(exchange.text)),
  )
}

type StepsOptions = Pick<EntryOptions, 'isSaid'> & {
  /** Paragraphs and commands that later exchanges have. */
  readonly known: Set<string>
  readonly hasSummary: boolean
  /** The agent was working on it. */
  readonly isCurrent: boolean
  readonly ledger: Ledger
}

function newSteps(exchange: Exchange, { isSaid, known, hasSummary, isCurrent, ledger }: StepsOptions) {
  // Of several edits of a file in one exchange, the last.
  const edited = new Set<string>()
  const isReported = createIsSaid(exchange.report ?? '')
  const last = lastAction(exchange)
  // Old code is left out: the files have it as it is now.
  const unsaid = { isSaid, known, withoutCode: hasSummary && !isCurrent }
  // "Now let me run the tests." is obsolete, except as the last words in the exchange that the agent was working on.
  const statementsIn = (text: string) => (isCurrent && text === exchange.report ? text : withoutAnnouncement(text))
  // "All tests pass." → "All tests pass. (last seen: `npm test` failed, "3 failed")"
  const marked = (text: string) => annotateStateClaims(text, ledger).text
  const newIn = ({ type, text }: RecordStep): string => {
    switch (type) {
      case 'reported':
        return marked(unsaidIn(statementsIn(text), unsaid))
      case 'said': {
        const isOld = (words: string) => isSaid(words, 'step') || isReported(words)
        return marked(unsaidIn(statementsIn(text), { ...unsaid, isSaid: isOld }))
      }
      case 'did':
        if (text === interrupted) return text
        if (isRepeated(commandIn.exec(text)?.[0], known) || isRepeated(fileIn.exec(text)?.[0], edited)) return ''
        if (isFailure.test(text)) return ''
        // Next to a summary: of the current exchange what the agent ran, since the files show its edits; of older ones the last action.
        if (hasSummary && ((isCurrent ? isEdit.test(text) : text !== last) || isSaid(text, 'step'))) return ''
        return hasSummary ? unsaidIn(text, unsaid) : text
      case 'saw':
        return hasSummary ? '' : text
      case 'read':
        if (isRepeated(text.split(': ', 1)[0], known)) return ''
        return hasSummary ? unsaidIn(text, { known, isSaid }) : text
      case 'opened':
        // A file that was read is of interest only in `done`, if nothing else is left of an old exchange.
        return ''
    }
  }
  return stepsOf(exchange)
    .toReversed()
    .map((step): RecordStep => ({ ...step, text: newIn(step) }))
    .filter(({ text }) => text !== '')
    .toReversed()
}

/** "ran `npm test` → failed: 3 failed": the errors at the end of the record have it, with its cause and whether it was fixed. */
const isFailure = /^ran `[^`]*` → failed: /
/** "edited gate.ts: `open = true`" */
const isEdit = /^(?:edited|wrote) /

/** "ran `npm test`" in "ran `npm test` → ok: 118 passed", and "edited gate.ts" in "edited gate.ts: `open = true`". */
const commandIn = /^ran `[^`]*`(?= → (?:ok|failed))/
const fileIn = /^edited [^:\n]*(?=: )/

/** "ran `npm test`" and "plan.md" are known if the same command ran, or the same text was read, again later. */
function isRepeated(what: string | undefined, known: Set<string>): boolean {
  const isKnown = what !== undefined && known.has(what)
  if (what !== undefined) known.add(what)
  return isKnown
}

function stepsOf({ steps = [], report, done }: Exchange): readonly RecordStep[] {
  const action = done === undefined ? [] : [{ type: 'did', text: done } as const]
  if (report === undefined) return [...steps, ...action]
  const reported = { type: 'reported', text: report } as const
  const place = steps.findLastIndex(({ type, text }) => type === 'said' && report.startsWith(text))
  if (place < 0) return [...steps, ...action, reported]
  return [...steps.slice(0, place), reported, ...steps.slice(place + 1), ...action]
}
