// The record: what the user and the agent said at the time, in order, as far as nothing else in the context says it.
// Without a model nothing is said yet, so the record is the whole page. It states nothing that nobody said.
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

/** The summary without a model: the record of everything after a line on who wrote it. Empty if that does not fit. */
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

/** Of the record's tokens, at most: errors are short, and an earlier summary must not crowd out what came after it. */
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
  // An explanation is shown once, with the error and its end, because it may have been wrong.
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
 * What comes before the sections; section 6, which is quoted verbatim elsewhere; current work and the next step, since work
 * went on.
 */
const outdated: readonly (number | undefined)[] = [undefined, 6, 8, 9]
const pendingTasks = 7

type Unsaid = TokenLimit & { readonly isSaid: IsSaid }

/**
 * What the earlier summary said that the new one does not, or that nothing since then has dealt with: "- Run the tests (`npm test`)"
 * is left out after "ran `npm test` → ok". A new summary has its own pending tasks.
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
 * The newest that fit, in order. An explanation that the summary gives is left out; so is an error of which nothing is left: "`make`
 * failed: no rule for gate." where the summary has "- no rule for gate".
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

/** "The rule is missing. I add it." → both; "All is done.\n[…]\nThe end." → none: a text that was too long to be kept whole is a report. */
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

/** " It succeeded later.", or " It failed again after that." where the same command had another error later: then the explanation was wrong or not all. */
function endOf({ what, last, isFixed }: ErrorFact, errors: readonly ErrorFact[]): string {
  if (errors.some((other) => other.what === what && other.last > last)) return ' It failed again after that.'
  return isFixed ? ' It succeeded later.' : ''
}
