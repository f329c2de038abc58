// The record: what the user and the agent said at the time, in order, as far as nothing else in the context says it.
// Without a model nothing is said yet, so the record is the whole page. It states nothing that nobody said.
import type { ErrorFact, Exchange, Ledger } from '../../ledger/facts.ts'
import { isAnnouncement } from '../../ledger/steps.ts'
import { pageTitles, writtenByCode } from '../../prompts/page.ts'
import { gap, sentenceEnd } from '../../text/condense.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { oneLine } from '../../text/one-line.ts'
import { holdsWords, linesWithin, plainWords } from '../../text/plain-words.ts'
import { doNow, type Work } from '../../text/slices.ts'
import { annotateStateClaims } from './claims.ts'
import { recordEntries } from './entries.ts'
import { entriesWithin, oneLineTokens } from './entry-text.ts'
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
  const room = (parts: readonly string[]) => tokens - countTokens(`${parts.join('\n\n')}\n\n`)
  const isSaid = alreadySaid === '' ? () => false : createIsNothingNew(alreadySaid)
  const errorRoom = Math.min(tokens * errorsShare, room([heading('errors')]))
  const errors = errorsWithin(ledger.errors, { isSaid, countTokens, tokens: errorRoom })
  const errorTexts = (shownWords: string) =>
    errors.length === 0
      ? []
      : [
          `${heading('errors')}${errors.map((error) => `${errorLine(error, shownWords)}${endOf(error, ledger.errors)}`).join('\n')}`,
        ]
  const entries = recordEntries(ledger, { alreadySaid, isSaid, closes })
  const left = room([heading('conversation'), heading('since'), ...errorTexts('')])
  // The author of a new summary has read the earlier one, but not what its record said on each request.
  const forEarlier = alreadySaid === '' ? left : left - oneLineTokens(entries, options)
  const earlierRoom = Math.min(left * earlierShare, forEarlier)
  const earlier = earlierWithin(conversation, { ...options, isSaid, tokens: earlierRoom })
  const headings = [heading('conversation'), ...(earlier.length === 0 ? [] : [heading('since')])]
  const { before, after } = yield* entriesWithin(entries, {
    ...options,
    since: earlier.length === 0 ? 0 : since,
    tokens: room([...earlier, ...headings, ...errorTexts('')]),
  })
  const conversationTexts = [
    ...under('conversation', before.length === 0 ? after : before),
    ...under('since', before.length === 0 ? [] : after),
  ]
  return [...earlier, ...conversationTexts, ...errorTexts(plainWords(conversationTexts.join('\n')))].join('\n\n')
}

/** Also true for what states nothing: "Shall I start?" was answered in the next entry, and "Let me look at the gate." was done. */
function createIsNothingNew(alreadySaid: string): IsSaid {
  const isSaid = createIsSaid(alreadySaid)
  return (statement, as) => /[?？]\W{0,4}$/.test(statement) || isAnnouncement(statement.trim()) || isSaid(statement, as)
}

function heading(name: keyof typeof pageTitles): string {
  return `## ${pageTitles[name]}\n`
}

function under(name: keyof typeof pageTitles, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${heading(name)}${lines.join('\n')}`]
}

/** What comes before the sections, section 6, which is quoted verbatim elsewhere, and the next step, which was taken. */
const outdated: readonly (number | undefined)[] = [undefined, 6, 9]
/** A new summary has these sections itself: tasks and work of an older one would mislead. */
const replaced: readonly (number | undefined)[] = [7, 8]

type Unsaid = TokenLimit & { readonly isSaid: IsSaid }

/** What the earlier summary said that the new one does not. */
function earlierWithin(
  { earlierSummary = '', ledger }: Conversation,
  { alreadySaid, isSaid, tokens, countTokens }: Unsaid & Pick<RecordOptions, 'alreadySaid'>,
): readonly string[] {
  const hasSummary = alreadySaid !== ''
  const read = readSections(modelSummaryIn(earlierSummary))
  const isCurrent = (number: Section['number']) =>
    !outdated.includes(number) && !(hasSummary && replaced.includes(number))
  const hasHeadings = read.some(({ number }) => number !== undefined)
  const known = new Set<string>()
  const sections = read
    .filter(({ number }) => !hasHeadings || isCurrent(number))
    .map((section) =>
      hasSummary ? { ...section, body: unsaidIn(section.body, { isSaid, known, withoutCode: true }) } : section,
    )
    .filter(({ body }) => body.trim() !== '')
  const current = annotateStateClaims(joinSections(sections), ledger).text
  const text = shortenSummary(current, { tokens, countTokens, lastToGo: new Set() })
  return sections.length === 0 || countTokens(text) > tokens ? [] : [`${heading('before')}${text}`]
}

/** The newest that fit, in order. An explanation that the summary gives is left out; so is an error of which nothing is left. */
function errorsWithin(errors: readonly ErrorFact[], { isSaid, ...limit }: Unsaid): readonly ErrorFact[] {
  const newestFirst = errors
    .map((error) => ({
      ...error,
      cause: sentencesOf(error)
        .filter((sentence) => !isSaid(sentence, 'step'))
        .join(' '),
    }))
    .filter(({ line, cause }) => cause !== '' || !isSaid(line))
    .toReversed()
  const lines = newestFirst.map((error) => `${errorLine(error, '')}${endOf(error, errors)}`)
  return newestFirst.slice(0, linesWithin(lines, limit).length).toReversed()
}

/** Of the explanation. A text that was too long to be kept whole is a report, not an explanation of this error. */
function sentencesOf({ cause = '' }: ErrorFact): readonly string[] {
  return cause === '' || cause.includes(gap) ? [] : cause.split(sentenceEnd)
}

/** "- `make all` failed: no rule for gate. The agent: The rule is missing.", without what is shown above. */
function errorLine(error: ErrorFact, shownWords: string): string {
  const own = sentencesOf(error).filter((sentence) => !holdsWords(shownWords, plainWords(sentence)))
  const said = own.length === 0 ? '' : ` The agent: ${neutralize(oneLine(own.join(' '), 400))}`
  const failed = neutralize(oneLine(error.line, 200)).replace(/\.+$/, '')
  const name = neutralize(oneLine(error.what, 160)).replaceAll('`', "'")
  return `- \`${name}\` failed: ${failed}.${said}`
}

/** An explanation after which the same command failed again, with another error, was wrong or not the whole cause. */
function endOf({ what, last, isFixed }: ErrorFact, errors: readonly ErrorFact[]): string {
  if (errors.some((other) => other.what === what && other.last > last)) return ' It failed again after that.'
  return isFixed ? ' It succeeded later.' : ''
}
