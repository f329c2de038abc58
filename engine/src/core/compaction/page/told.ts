// What is new in each exchange: the user's words if nothing quotes them yet, and the steps and the report of the agent
// without what the summary says, what the agent said again later, and what the record has already.
import type { Exchange, Ledger, Step } from '../../ledger/facts.ts'
import { withoutAnnouncement } from '../../ledger/steps.ts'
import { annotateStateClaims } from './claims.ts'
import { isInSummary, isSameWords, searchable } from './complete-words.ts'
import { createIsSaid, type IsSaid, unsaidIn } from './said.ts'

/** The agent's last words before the user spoke again are a step of their own, where they were said. */
export type ToldStep = { readonly type: Step['type'] | 'reported'; readonly text: string }

export type Told = {
  readonly exchange: Exchange
  /** The context quotes the user's words already, so a short quotation shows which request this was. */
  readonly isQuoted: boolean
  readonly steps: readonly ToldStep[]
}

export type Telling = {
  /** Empty without a model. */
  readonly alreadySaid: string
  readonly isSaid: IsSaid
  /** The request that the context ends with. */
  readonly closes?: Exchange | undefined
}

/**
 * Read from the newest to the oldest, so that of two equal paragraphs the later one stays. An exchange in which nothing is
 * new is left out, unless it follows one that is told: the user may have contradicted what the agent reported there. The
 * latest message needs no mention, because the context ends with it.
 */
export function toldIn(ledger: Ledger, { alreadySaid, isSaid, closes }: Telling): readonly Told[] {
  const where = alreadySaid === '' ? undefined : searchable(alreadySaid)
  const current = ledger.exchanges.findLast(({ steps = [] }) => steps.length > 0)
  const telling = { isSaid, known: new Set<string>(), hasSummary: where !== undefined, current, ledger }
  const told = ledger.exchanges
    .toReversed()
    .map((exchange) => ({
      exchange,
      isQuoted: isSameWords(exchange, closes) || (where !== undefined && isInSummary(exchange, where)),
      steps: newSteps(exchange, telling),
    }))
    .toReversed()
  const mayContradict = (at: number) => (told[at - 1]?.steps ?? []).length > 0 && at < told.length - 1
  return told.filter(({ isQuoted, steps }, at) => !isQuoted || steps.length > 0 || mayContradict(at))
}

type StepsOptions = {
  readonly isSaid: IsSaid
  readonly known: Set<string>
  readonly hasSummary: boolean
  /** The exchange that the agent was working on. */
  readonly current: Exchange | undefined
  readonly ledger: Ledger
}

function newSteps(exchange: Exchange, options: StepsOptions): readonly ToldStep[] {
  const { isSaid, known, hasSummary, current, ledger } = options
  const isReported = createIsSaid(exchange.report ?? '')
  // The files have the code as it is now.
  const unsaid = { isSaid, known, withoutCode: hasSummary && exchange !== current }
  const newIn = ({ type, text }: ToldStep): string => {
    switch (type) {
      case 'said':
        return unsaidIn(saidIn(text), {
          ...unsaid,
          isSaid: (statement) => isSaid(statement) || isReported(statement),
        })
      case 'reported':
        return unsaidIn(saidIn(text), unsaid)
      case 'saw':
        // A summary has the results of older looks; the latest show where the agent was.
        return hasSummary && exchange !== current ? '' : text
      case 'did':
        if (isRepeatedRun(text, known)) return ''
        return hasSummary ? unsaidIn(text, { known, isSaid }) : text
      default:
        return hasSummary ? unsaidIn(text, { known, isSaid }) : text
    }
  }
  // "Now let me run the tests." is obsolete, except in the exchange that was going on.
  const saidIn = (text: string) => (exchange === current ? text : withoutAnnouncement(text))
  return stepsOf(exchange)
    .toReversed()
    .flatMap((step): readonly ToldStep[] => {
      const text = newIn(step)
      if (text === '') return []
      const isClaim = step.type === 'said' || step.type === 'reported'
      // "All tests pass." (last seen: 3 failed)
      return [{ ...step, text: isClaim ? annotateStateClaims(text, ledger).text : text }]
    })
    .toReversed()
}

/** "ran `npm test` → ok: 118 passed" says nothing if the same command ran again later. A failure is worth telling. */
function isRepeatedRun(text: string, known: Set<string>): boolean {
  const [, run = '', end] = /^(ran `[^`]*`) → (ok|failed)/.exec(text) ?? []
  const isRepeated = end === 'ok' && known.has(run)
  if (end !== undefined) known.add(run)
  return isRepeated
}

function stepsOf({ steps = [], report, done }: Exchange): readonly ToldStep[] {
  const action = done === undefined ? [] : [{ type: 'did', text: done } as const]
  if (report === undefined) return [...steps, ...action]
  const reported = { type: 'reported', text: report } as const
  const place = steps.findLastIndex(({ type, text }) => type === 'said' && report.startsWith(text))
  const before = place < 0 ? [...steps, ...action] : steps.slice(0, place)
  return place < 0 ? [...before, reported] : [...before, reported, ...steps.slice(place + 1), ...action]
}
