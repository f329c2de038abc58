// The entries of the record: the steps and the report of the agent for each exchange. A statement is left out if the summary
// has it, or if the agent repeated it later.
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
 * Reads exchanges from the newest to the oldest, so that the later of two equal paragraphs stays. Leaves out an exchange with
 * nothing new, for example "Go on." without a report, unless the entry before it has a report, which the user may contradict
 * here. Leaves out the latest message too, because the context ends with it.
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
  // Only the last edit of a file in an exchange is shown.
  const edited = new Set<string>()
  const last = lastAction(exchange)
  // Old code is left out, because the files have the current code.
  const unsaid = { isSaid, known, withoutCode: hasSummary && !isCurrent }
  const isStepSaid: IsSaid = (statement) => isSaid(statement, 'step')
  const steps = stepsOf(exchange)
  // Beside a summary, an older exchange shows only its last action. The current one shows all its actions, and its searches
  // since its last change.
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
    // Without a summary, only the agent's last words say what it was about to do.
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

/** "ran `npm test` → failed: 3 failed": the errors at the end of the record list it, with its cause. */
const isFailure = /^ran `[^`]*` → failed: /
const changes = /^(?:edited|wrote|committed) /
/** "ran `npm test`" in "ran `npm test` → ok: 118 passed", and "edited gate.ts" in "edited gate.ts: `open = true`". */
const commandIn = /^ran `[^`]*`(?= → (?:ok|failed))/
const fileIn = /^edited [^:\n]*(?=: )/

/** True if a later step ran the same command ("ran `npm test`") or read the same text ("plan.md"). */
function isRepeated(what: string | undefined, known: Set<string>): boolean {
  const isKnown = what !== undefined && known.has(what)
  if (what !== undefined) known.add(what)
  return isKnown
}

/** The steps of an exchange. A stored exchange has only its last action and its report. */
function stepsOf({ steps = [], report, done }: Exchange): readonly Step[] {
  const action = done === undefined ? [] : [{ type: 'did', text: done } as const]
  const isPlaced = report === undefined || steps.some(({ type }) => type === 'reported')
  return [...action, ...(isPlaced ? [] : [{ type: 'reported', text: report } as const]), ...steps]
}
