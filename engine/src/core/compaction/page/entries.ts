// The entries of the record: for each exchange the steps and the report of the agent, without what the summary says, what
// the agent said again later, and what another entry has already.
import type { Exchange, Ledger, Step } from '../../ledger/facts.ts'
import { interrupted, lastAction, shortStatement, withoutClosing } from '../../ledger/steps.ts'
import { annotateStateClaims } from './claims.ts'
import { isInSummary, isSameWords, searchable } from './complete-words.ts'
import { type IsSaid, unsaidIn } from './said.ts'

export type RecordEntry = {
  readonly exchange: Exchange
  /** The context quotes the user's words elsewhere, so the entry only names the request. */
  readonly isQuoted: boolean
  readonly steps: readonly Step[]
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
  return entries.filter(({ isQuoted, steps }, at) => !isQuoted || steps.length > 0 || mayContradict(at))
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
  const last = lastAction(exchange)
  // Old code is left out: the files have it as it is now.
  const unsaid = { isSaid, known, withoutCode: hasSummary && !isCurrent }
  const isStepSaid: IsSaid = (statement) => isSaid(statement, 'step')
  const steps = stepsOf(exchange)
  // Next to a summary, an older exchange shows only its last action, and the current one what it looked up since it last
  // changed something.
  const changed = isCurrent ? steps.findLastIndex(({ text }) => changes.test(text)) : steps.length
  const outdated = new Set(hasSummary ? steps.filter(({ type }, at) => type === 'saw' && at < changed) : [])
  const isWanted = (step: Step): boolean => {
    const { type, text } = step
    if (text === interrupted) return true
    const source = type === 'read' ? text.split(': ', 1)[0] : commandIn.exec(text)?.[0]
    if (isRepeated(source, known) || isRepeated(fileIn.exec(text)?.[0], edited)) return false
    if (type === 'did' && hasSummary && !isCurrent && text !== last) return false
    // "Now the tests." before more steps is no report.
    if (type === 'reported' && text.length < shortStatement && step !== steps.at(-1)) return false
    return type !== 'opened' && !outdated.has(step) && !isFailure.test(text)
  }
  const newIn = ({ type, text }: Step): string => {
    const isSpoken = type === 'reported' || type === 'said'
    // Without a summary, the agent's last words are all that says what it was about to do.
    const isNext = isCurrent && !hasSummary && text === exchange.report
    const stated = isSpoken && !isNext ? withoutClosing(text) : text
    const left = unsaidIn(stated, type === 'said' || type === 'did' ? { ...unsaid, isSaid: isStepSaid } : unsaid)
    // "All tests pass." → "All tests pass. (last seen: `npm test` failed, "3 failed")"
    return isSpoken ? annotateStateClaims(left, ledger).text : left
  }
  return steps
    .toReversed()
    .filter(isWanted)
    .map((step): Step => ({ ...step, text: newIn(step) }))
    .filter(({ text }) => text !== '')
    .toReversed()
}

/** "ran `npm test` → failed: 3 failed": the errors at the end of the record have it, with its cause and whether it was fixed. */
const isFailure = /^ran `[^`]*` → failed: /
const changes = /^(?:edited|wrote|committed) /
/** "ran `npm test`" in "ran `npm test` → ok: 118 passed", and "edited gate.ts" in "edited gate.ts: `open = true`". */
const commandIn = /^ran `[^`]*`(?= → (?:ok|failed))/
const fileIn = /^edited [^:\n]*(?=: )/

/** "ran `npm test`" and "plan.md" are known if the same command ran, or the same text was read, again later. */
function isRepeated(what: string | undefined, known: Set<string>): boolean {
  const isKnown = what !== undefined && known.has(what)
  if (what !== undefined) known.add(what)
  return isKnown
}

/** Of an exchange that was stored, only the last action and the report are known. */
function stepsOf({ steps = [], report, done }: Exchange): readonly Step[] {
  const action = done === undefined ? [] : [{ type: 'did', text: done } as const]
  const isPlaced = report === undefined || steps.some(({ type }) => type === 'reported')
  return [...action, ...(isPlaced ? [] : [{ type: 'reported', text: report } as const]), ...steps]
}
