// The record: words and steps of the user and the agent, in order, unless another part of the context has them. Without a
// model, the record is the whole page. It states only what somebody said or did.
import type { ErrorFact, Exchange, Ledger } from '../../ledger/facts.ts'
import { pageTitles, writtenByCode } from '../../prompts/page.ts'
import { gap, sentenceEnd, type TokenLimit } from '../../text/cut.ts'
import { neutralize, oneLine } from '../../text/neutralize.ts'
import { linesWithin, plainWords } from '../../text/plain-words.ts'
import { doNow, type Work } from '../../text/slices.ts'
import { annotateStateClaims } from './claims.ts'
import { recordEntries } from './entries.ts'
import { entriesWithin } from './entry-text.ts'
import { modelSummaryIn } from './read-page.ts'
import { createIsSaid, type IsSaid, unsaidIn } from './said.ts'
import { joinSections, readSections, type Section, shortenSummary } from './sections.ts'

export type Conversation = {
  readonly ledger: Ledger
  /** The summary that a model wrote at the last compaction. */
  readonly earlierSummary?: string | undefined
  /** The first message since then. */
  readonly since?: number
  /** The request that the context ends with: the record only names it. */
  readonly closes?: Exchange | undefined
}

export type RecordOptions = TokenLimit & {
  /** The summary and the user's words next to it; empty without a model. */
  readonly alreadySaid: string
  readonly recall: boolean
}

export type OfflineInput = Conversation & Omit<RecordOptions, 'alreadySaid'> & { readonly instructions: string }

/**
 * The summary without a model: a line that says who wrote it, then the record of everything. Empty if that line does not fit.
 */
export function offlineSummary(input: OfflineInput): string {
  return doNow(writingOffline(input))
}

export function* writingOffline(input: OfflineInput): Work<string> {
  const { tokens, countTokens, instructions } = input
  const asked = instructions.trim() === '' ? [] : [`Asked of this summary: ${neutralize(oneLine(instructions, 600))}`]
  const opening = [writtenByCode, ...asked].join('\n')
  const room = tokens - countTokens(`${opening}\n\n`)
  if (room < 0) return ''
  const text = yield* writingRecord(input, { ...input, alreadySaid: '', tokens: room })
  return text === '' ? opening : `${opening}\n\n${text}`
}

/** Maximum shares of the record's tokens. Errors are short, and an earlier summary must not crowd out newer exchanges. */
const errorsShare = 1 / 8
const earlierShare = 1 / 3

/** Sections under their headings, in at most `tokens`; empty if there is nothing to add. */
export function record(conversation: Conversation, options: RecordOptions): string {
  return doNow(writingRecord(conversation, options))
}

export function* writingRecord(conversation: Conversation, options: RecordOptions): Work<string> {
  const { tokens, countTokens, alreadySaid } = options
  const { ledger, since = 0, closes } = conversation
  const room = (...parts: readonly string[]) => tokens - countTokens(`${joined(parts)}\n\n`)
  const isSaid = alreadySaid === '' ? () => false : createIsSaid(alreadySaid)
  const errors = errorsWithin(ledger, { isSaid, countTokens, tokens: tokens * errorsShare })
  // An explanation is shown once, beside its error, because it may have been wrong.
  const explained = new Set(errors.flatMap(explanationOf).map(plainWords))
  const isKnown: IsSaid = (statement, as) => explained.has(plainWords(statement)) || isSaid(statement, as)
  const errorLines = errors.map((error) => errorLine(error, ledger))
  const errorText = section(pageTitles.errors, errorLines)
  const entries = recordEntries(ledger, { alreadySaid, isSaid: isKnown, closes })
  const [heading, headingSince] = [`## ${pageTitles.conversation}\n`, `## ${pageTitles.since}\n`]
  const earlierRoom = room(heading, headingSince, errorText) * earlierShare
  const earlier = earlierWithin(conversation, { ...options, isSaid, tokens: earlierRoom })
  const { before, after } = yield* entriesWithin(entries, {
    ...options,
    since: earlier === '' ? 0 : since,
    tokens: room(earlier, heading, earlier === '' ? '' : headingSince, errorText),
  })
  return joined([
    earlier,
    section(pageTitles.conversation, before.length === 0 ? after : before),
    section(pageTitles.since, before.length === 0 ? [] : after),
    errorText,
  ])
}

export function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

/** `## Title` and the lines below it; empty without lines. */
export function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`## ${title}`, ...lines].join('\n')
}

/**
 * Parts of an earlier summary that are not repeated: the text before its sections; section 6, because the messages are quoted
 * elsewhere; current work and the next step, because work has continued.
 */
const outdated: readonly (number | undefined)[] = [undefined, 6, 8, 9]
const pendingTasks = 7

type Unsaid = TokenLimit & { readonly isSaid: IsSaid }

/**
 * The statements of the earlier summary that the new summary lacks. Without a new summary, those that no later message, report
 * or step has: "- Run the tests (`npm test`)" is left out after "ran `npm test` → ok". A new summary has its own pending tasks,
 * so the old ones are left out.
 */
function earlierWithin(
  { earlierSummary = '', ledger, since = 0 }: Conversation,
  { alreadySaid, isSaid, tokens, countTokens }: Unsaid & Pick<RecordOptions, 'alreadySaid'>,
): string {
  const read = readSections(modelSummaryIn(earlierSummary))
  const isCurrent = (number: Section['number']) =>
    !outdated.includes(number) && (alreadySaid === '' || number !== pendingTasks)
  const hasHeadings = read.some(({ number }) => number !== undefined)
  const unsaid = {
    isSaid: alreadySaid === '' ? createIsSaid(saidIn(ledger.exchanges.filter(({ last }) => last >= since))) : isSaid,
    known: new Set<string>(),
  }
  const sections = read
    .filter(({ number }) => !hasHeadings || isCurrent(number))
    .map((section) => ({ ...section, body: unsaidIn(section.body, { ...unsaid, withoutCode: true }) }))
    .filter(({ body }) => body.trim() !== '')
  const current = annotateStateClaims(joinSections(sections), ledger).text
  const text = shortenSummary(current, { tokens, countTokens, lastToGo: new Set() })
  return sections.length === 0 || countTokens(text) > tokens ? '' : section(pageTitles.before, [text])
}

/** All words and steps, each as a paragraph: "Fix it.\n\nDone.\n\nedited gate.ts". */
export function saidIn(exchanges: readonly Exchange[]): string {
  return exchanges
    .flatMap(({ text, report = '', steps = [] }) => [text, report, ...steps.map((step) => step.text)])
    .join('\n\n')
}

/**
 * The newest errors that fit, oldest first. An explanation is left out if the summary has it, and so is a whole error: "`make`
 * failed: no rule for gate." is left out if the summary has "- no rule for gate".
 */
function errorsWithin(ledger: Ledger, { isSaid, ...limit }: Unsaid): readonly ErrorFact[] {
  const newestFirst = ledger.errors
    .map((error) => ({
      ...error,
      cause: explanationOf(error)
        .filter((sentence) => !isSaid(sentence, 'step'))
        .join(' '),
    }))
    .filter(({ line, cause }) => cause !== '' || !isSaid(line))
    .toReversed()
  const lines = newestFirst.map((error) => errorLine(error, ledger))
  return newestFirst.slice(0, linesWithin(lines, limit).length).toReversed()
}

/**
 * "The rule is missing. I add it." → both sentences; "All is done.\n[…]\nThe end." → none, because a text that had to be cut is
 * a report.
 */
function explanationOf({ cause = '' }: ErrorFact): readonly string[] {
  return cause === '' || cause.includes(gap) ? [] : cause.split(sentenceEnd)
}

/** "- `make all` failed: no rule for gate. The agent: The rule is missing. It succeeded later." */
function errorLine(error: ErrorFact, ledger: Ledger): string {
  const cause = annotateStateClaims(explanationOf(error).join(' '), ledger).text
  const said = cause === '' ? '' : ` The agent: ${neutralize(oneLine(cause, 400))}`
  const failed = neutralize(oneLine(error.line, 200)).replace(/\.+$/, '')
  const name = neutralize(oneLine(error.what, 160)).replaceAll('`', "'")
  return `- \`${name}\` failed: ${failed}.${said}${endOf(error, ledger.errors)}`
}

/**
 * " It succeeded later.", or " It failed again after that." if the same command had another error later: then the explanation
 * was wrong or incomplete.
 */
function endOf({ what, last, isFixed }: ErrorFact, errors: readonly ErrorFact[]): string {
  if (errors.some((other) => other.what === what && other.last > last)) return ' It failed again after that.'
  return isFixed ? ' It succeeded later.' : ''
}
