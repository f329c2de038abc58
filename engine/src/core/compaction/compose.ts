// The text of the new context, in order of trust: the summary whole, the user's words, the rules, the state, what else is
// on record. It is made smaller only where it does not fit, and the summary itself is shortened last.
import type { Exchange, Ledger } from '../ledger/facts.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import { cautionLine, pageTitles, shortenedNote, unverifiedStart, writtenByCode } from '../prompts/page.ts'
import type { SummaryVariant } from '../prompts/summary.ts'
import { neutralizeFrames, neutralizeReminders } from '../text/neutralize.ts'
import type { Checked } from './check.ts'
import type { Composition } from './job.ts'
import {
  type Completed,
  completeWords,
  isInSummary,
  isSaid,
  searchable,
  withoutRepeats,
} from './page/complete-words.ts'
import { wordsText } from './page/exchange-text.ts'
import { unsaidReports } from './page/facts.ts'
import { offlineSummary } from './page/offline.ts'
import { holdsWords, plainWords } from './page/plain-words.ts'
import { ruleLines } from './page/rules.ts'
import { missingSections, readSections } from './page/sections.ts'
import { shortenSummary } from './page/shorten.ts'
import { stateLines } from './page/state.ts'

export type ComposeInput = {
  /** The checked summary; undefined when it is written without a model. */
  readonly checked: Checked | undefined
  readonly ledger: Ledger
  /** The first message since the last compaction, in the ledger's time. */
  readonly since: number
  readonly kept: readonly ViewMessage[]
  readonly earlierSummary: string | undefined
  readonly instructions: string
  readonly workspace: string | undefined
  readonly variant: SummaryVariant
  readonly recall: boolean
  /** What a summary may use, and what is added to one at the most. */
  readonly summaryTokens: number
  readonly userTokens: number
  readonly offlineTokens: number
  readonly countTokens: (text: string) => number
}

export type Page = {
  readonly text: string
  /** What stands beside a summary that is sent as the provider wrote it: everything but the summary. */
  readonly beside: string
  readonly report: FidelityReport
  readonly composition: Omit<Composition, 'restored'>
  readonly isOffline: boolean
}

/** How much is added to the summary, from the usual to the least. */
type Extras = {
  readonly user: number
  readonly hasState: boolean
}

/** What the user said before the last compaction: at most this, and what is left. */
const earlierTokens = 3_000

const rulesShare = 0.25
const headingTokens = 60
const factsShare = 0.15
const usualFacts = 1_000

/** At most this beside a summary. */
function factTokens(summaryTokens: number, left: number): number {
  return Math.max(0, Math.min(left, Math.max(usualFacts, summaryTokens * factsShare)))
}

/** What is to be done next: the summary's last sections, open todos, the latest request and what the agent said last. */
export function nextIn({ checked, ledger: { exchanges, todos } }: ComposeInput): string {
  const { text = '', report = '' } = exchanges.at(-1) ?? {}
  const sections = readSections(checked?.text ?? '').filter(({ number = 0 }) => number >= 7)
  const open = todos.filter(({ status }) => status !== 'done').map((todo) => todo.text)
  return [...sections.map(({ body }) => body), ...open, text, report].join('\n')
}

/** Undefined when not even the user's latest words fit. */
export function composePage(input: ComposeInput, tokens: number): Page | undefined {
  if (input.checked === undefined) return offlinePage(input, tokens)
  const usual: Extras = { user: input.userTokens, hasState: true }
  const steps: readonly Extras[] = [
    usual,
    { user: Math.min(input.userTokens, 1_000), hasState: true },
    { user: 300, hasState: true },
    { user: 0, hasState: false },
  ]
  const written = neutralizeFrames(input.checked.text)
  for (const extras of steps) {
    const page = pageWith(input, { extras, summary: written, tokens })
    if (input.countTokens(page.text) <= tokens) return page
  }
  return shortenedPage(input, { extras: steps.at(-1) ?? usual, summary: written, tokens })
}

type Filling = { readonly extras: Extras; readonly summary: string; readonly tokens: number }

/** Less and less of the summary, until it fits with what must be beside it. */
function shortenedPage(input: ComposeInput, filling: Filling): Page | undefined {
  const { countTokens, ledger } = input
  const rules = ledger.rules.map(({ text }) => plainWords(text))
  const isRule = (line: string) => {
    const plain = rules.length === 0 ? '' : plainWords(line)
    return rules.some((rule) => holdsWords(plain, rule))
  }
  const around = countTokens(pageWith(input, filling).text) - countTokens(filling.summary)
  for (const share of [1, 0.9, 0.75, 0.5]) {
    const room = (filling.tokens - around) * share
    if (room < leastSummary) break
    const summary = shortenSummary(filling.summary, { tokens: room, countTokens, isRule })
    if (summary.trim() === shortenedNote) break
    const page = pageWith(input, { ...filling, summary })
    if (countTokens(page.text) <= filling.tokens) return page
  }
  return offlinePage(input, filling.tokens)
}

const leastSummary = 100

function pageWith(input: ComposeInput, { extras, summary, tokens }: Filling): Page {
  const { countTokens, ledger, recall, since, checked, workspace } = input
  const current = ledger.exchanges.filter(({ last }) => last >= since)
  const completed = completeWords(summary, current, { recall, countTokens, tokens: extras.user })
  const rulesBeside = (shown: string) => ruleLines(ledger, { shown, recall, tokens: tokens * rulesShare, countTokens })
  const state = extras.hasState ? stateLines({ ledger, workspace, shown: completed.text, since }) : []
  const doubts = doubtLine(checked?.unknownNames ?? [], completed.text)
  const leftBeside = (said: string) =>
    tokens - countTokens([said, ...rulesBeside(said), ...state, ...doubts].join('\n')) - headingTokens
  const earlier = earlierWords(ledger, {
    ...input,
    shown: completed.text,
    tokens: Math.min(earlierTokens, leftBeside(completed.text)),
  })
  const said = [completed.text, ...earlier].join('\n')
  const rules = rulesBeside(said)
  const facts = unsaidReports(ledger.exchanges, {
    shown: said,
    tokens: factTokens(countTokens(summary), leftBeside(said)),
    since,
    isThin: countTokens(summary) < input.summaryTokens / 2,
    countTokens,
  })
  const besideParts = [
    section(pageTitles.earlier, earlier),
    section(pageTitles.rules, rules),
    section(pageTitles.state, state),
    section(pageTitles.facts, [...facts, ...doubts]),
  ]
  const cautions = cautionLines(checked?.harmful ?? [])
  const corrections = correctionLines(checked, completed)
  return {
    text: joined([...cautions, neutralizeReminders(completed.text), ...besideParts]),
    beside: joined([...cautions, ...corrections, ...besideParts]),
    report: reportOf(input, { completed, facts: countTokens(facts.join('\n')) }),
    composition: {
      model: countTokens(summary),
      user: completed.inserted + countTokens(earlier.join('\n')),
      state: countTokens(state.join('\n')),
      rules: countTokens(rules.join('\n')),
      facts: countTokens([...facts, ...doubts].join('\n')),
    },
    isOffline: false,
  }
}

function offlinePage(input: ComposeInput, tokens: number): Page | undefined {
  const { countTokens, ledger, recall, workspace, instructions, since } = input
  const room = Math.min(input.offlineTokens, tokens)
  const state = within(stateLines({ ledger, workspace, shown: '', since }), { tokens: room / 4, countTokens })
  const stateText = section(pageTitles.state, state)
  const rulesFor = (shown: string) => ruleLines(ledger, { shown, recall, tokens: room * rulesShare, countTokens })
  let left = room - countTokens(stateText)
  for (let attempt = 0; attempt < 6; attempt++) {
    const earlierSummary = input.earlierSummary?.includes(writtenByCode) ? undefined : input.earlierSummary
    const conversation = offlineSummary({
      ledger,
      earlierSummary,
      since,
      instructions,
      recall,
      tokens: left,
      countTokens,
    })
    if (conversation === '') return undefined
    const rules = rulesFor(conversation)
    const text = joined([conversation, section(pageTitles.rules, rules), stateText])
    const excess = countTokens(text) - room
    if (excess > 0) {
      left -= excess + attempt * headingTokens
      continue
    }
    const said = ledger.exchanges.filter((exchange) => isSaid(exchange) && exchange.last >= since)
    const plain = plainWords(text)
    const verbatim = said.filter((exchange) => holdsWords(plain, plainWords(exchange.text))).length
    const counts = { total: said.length, verbatim, shortened: said.length - verbatim, putIn: said.length }
    return {
      text: neutralizeReminders(text),
      beside: '',
      report: { ...emptyReport, humanMessages: counts },
      composition: {
        model: 0,
        user: countTokens(conversation),
        state: countTokens(stateText),
        rules: countTokens(rules.join('\n')),
        facts: 0,
      },
      isOffline: true,
    }
  }
  return undefined
}

const emptyReport: FidelityReport = {
  humanMessages: { total: 0, verbatim: 0, shortened: 0, putIn: 0 },
  falseQuotes: [],
  inferredApprovals: [],
  contradicted: [],
  unsupported: [],
  missingSections: [],
  ledgerTokens: 0,
}

/** Nothing but the latest request, which comes behind it. */
export const emptyPage: Page = {
  text: '',
  beside: '',
  report: emptyReport,
  composition: { model: 0, user: 0, state: 0, rules: 0, facts: 0 },
  isOffline: true,
}

function reportOf(
  { checked, variant }: ComposeInput,
  { completed, facts }: { readonly completed: Completed; readonly facts: number },
): FidelityReport {
  if (checked === undefined) return emptyReport
  return {
    humanMessages: completed.counts,
    falseQuotes: checked.falseQuotes,
    inferredApprovals: checked.inferredApprovals,
    contradicted: checked.contradicted,
    unsupported: checked.unknownNames,
    missingSections: missingSections(readSections(checked.text), variant),
    ledgerTokens: facts,
  }
}

type Earlier = {
  readonly shown: string
  readonly since: number
  readonly recall: boolean
  readonly tokens: number
  readonly countTokens: (text: string) => number
}

const longestEarlier = 600

/** Of what was said before the last compaction, first what was said to last, then the newest; oldest first in the text. */
function earlierWords(
  { exchanges, rules }: Ledger,
  { shown, since, recall, tokens, countTokens }: Earlier,
): readonly string[] {
  const where = searchable([shown, ...rules.map(({ text }) => text)].join('\n'))
  const isNew = (exchange: Exchange) => isSaid(exchange) && !isInSummary(exchange, where)
  const earlier = withoutRepeats(exchanges.filter((exchange) => exchange.last < since && isNew(exchange)))
  const ranked = [
    ...earlier.filter(({ lasts }) => lasts).toReversed(),
    ...earlier.filter(({ lasts }) => !lasts).toReversed(),
  ]
  const kept = new Map<Exchange, string>()
  let left = tokens
  for (const exchange of ranked) {
    const line = `- ${wordsText(exchange, { recall, most: longestEarlier })}`
    const cost = countTokens(`${line}\n`)
    if (cost > left) continue
    left -= cost
    kept.set(exchange, line)
  }
  return earlier.flatMap((exchange) => kept.get(exchange) ?? [])
}

function cautionLines(harmful: readonly string[]): readonly string[] {
  if (harmful.length === 0) return []
  const claims = harmful.map((claim) => `- ${claim.replace(/^\s*[-*]\s+/, '')}`)
  return [[cautionLine, ...claims].join('\n')]
}

/** What would be marked in a text is said beside a summary that nobody may change. */
function correctionLines(checked: Checked | undefined, { lines }: Completed): readonly string[] {
  const quoted = (texts: readonly string[]) => texts.map((text) => `"${text}"`).join(', ')
  return [
    ...(checked && checked.falseQuotes.length > 0
      ? [`Quoted in the summary, and not found in the user’s messages: ${quoted(checked.falseQuotes)}`]
      : []),
    ...(checked && checked.inferredApprovals.length > 0
      ? [`Claimed in the summary, with no such approval on record: ${quoted(checked.inferredApprovals)}`]
      : []),
    section(pageTitles.words, lines),
  ]
}

function doubtLine(names: readonly string[], text: string): readonly string[] {
  const named = names.filter((name) => text.includes(name)).map((name) => `\`${name.replaceAll('`', "'")}\``)
  return named.length === 0 ? [] : [`${unverifiedStart} ${named.join(', ')}.`]
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`## ${title}`, ...lines].join('\n')
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The first that fit. */
function within(
  lines: readonly string[],
  { tokens, countTokens }: { readonly tokens: number; readonly countTokens: (text: string) => number },
): readonly string[] {
  let left = tokens
  const end = lines.findIndex((line) => {
    left -= countTokens(`${line}\n`)
    return left < 0
  })
  return end < 0 ? lines : lines.slice(0, end)
}
