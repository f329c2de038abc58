// The text of the new context, in order of trust: the whole summary, the user's words, the rules, the state, and a record of
// facts that the summary lacks. The record gets the room that is left; the summary is shortened last.
import type { Exchange, Ledger } from '../ledger/facts.ts'
import type { FidelityReport } from '../ports/hooks.ts'
import {
  cautionLine,
  doubtLeads,
  newerRequestLine,
  pageTitles,
  recordLead,
  shortenedNote,
  type Unseen,
  unverifiedStart,
  writtenByCodeStart,
} from '../prompts/page.ts'
import { omittedLine } from '../prompts/recall.ts'
import type { SummaryVariant } from '../prompts/summary.ts'
import { neutralizeReminders, neutralizeSummary } from '../text/neutralize.ts'
import { holdsWords, linesWithin, plainWords } from '../text/plain-words.ts'
import { doNow, type Work } from '../text/slices.ts'
import type { Checked } from './check.ts'
import type { Composition } from './job.ts'
import {
  completeWords,
  isInSummary,
  isSaid,
  isSameWords,
  searchable,
  withoutRepeats,
  wordsText,
} from './page/complete-words.ts'
import { omittedTerms } from './page/omitted.ts'
import { joined, section, writingOffline, writingRecord } from './page/record.ts'
import { joinSections, missingSections, readSections, shortenSummary } from './page/sections.ts'
import { ruleLines, stateLines } from './page/state.ts'

export type ComposeInput = {
  /** The checked summary. Undefined if there is no model. */
  readonly checked: Checked | undefined
  readonly ledger: Ledger
  /** Time of the first message after the last compaction, in the ledger's time. */
  readonly since: number
  readonly earlierSummary: string | undefined
  readonly instructions: string
  readonly workspace: string | undefined
  readonly variant: SummaryVariant
  /** Whether the request for the summary asked for our sections. Default: true. */
  readonly isSectioned?: boolean
  readonly recall: boolean
  /** The request at the end of the context, which is not repeated here. */
  readonly closes?: Exchange | undefined
  /** The place of the latest request if the summarizer has not seen it. */
  readonly unseen?: Unseen | undefined
  /** Tokens of the summary and everything that code adds to it. A longer summary stays whole if it fits. */
  readonly handoverTokens: number
  /** Tokens of user messages that are added to a summary. Default: the rest of the handover. */
  readonly userTokens?: number
  /** Number of the user's latest messages that the page always contains whole. Default: 3. */
  readonly neverShortened?: number
  readonly countTokens: (text: string) => number
}

export type Page = {
  readonly text: string
  /** The text next to a summary that the provider wrote and that must not change: everything except the summary. */
  readonly beside: string
  readonly report: FidelityReport
  readonly composition: Omit<Composition, 'restored'>
  readonly isOffline: boolean
}

/** Tokens for the user's messages from before the last compaction, if that many are left. */
const earlierTokens = 3_000
const maxEarlier = 600
const rulesShare = 0.5
const headingTokens = 60
const minSummary = 100
/** Attempts to fit a page into its room. Each is smaller by the previous excess. */
const maxAttempts = 6
const minUser = 300
/** Tokens for the line on searchable facts. */
const hintTokens = 150

/**
 * The open work, most important first: the latest request, failing checks, the agent's last text, open todos, and the summary's
 * sections on the next step, the current work and pending tasks.
 */
export function nextIn({ checked, ledger }: Pick<ComposeInput, 'checked' | 'ledger'>): string {
  const { text = '', report = '' } = ledger.exchanges.at(-1) ?? {}
  const failing = ledger.commands.filter(({ ended }) => ended === 'badly').map(({ outcome }) => outcome)
  const sections = readSections(checked?.text ?? '').filter(({ number = 0 }) => number >= 7)
  const open = ledger.todos.filter(({ status }) => status !== 'done').map((todo) => todo.text)
  return [text, ...failing.toReversed(), report, ...open, ...sections.toReversed().map(({ body }) => body)].join('\n')
}

type Filling = {
  readonly checked: Checked
  readonly summary: string
  readonly tokens: number
  /** Tokens for messages that the summary lacks. At 0 the state is dropped too. */
  readonly user: number
  /** The summary had to be shortened, so nothing is added that it could have said itself. */
  readonly isShortened?: boolean
}

/** Reduces the text next to the summary first, then the summary. Undefined if not even the user's latest words fit. */
export function composePage(input: ComposeInput, tokens: number): Page | undefined {
  return doNow(composing(input, tokens))
}

export function* composing(input: ComposeInput, tokens: number): Work<Page | undefined> {
  const { checked, countTokens, handoverTokens } = input
  if (checked === undefined) return yield* offlinePage(input, tokens)
  const filling = { checked, summary: announced(neutralizeSummary(checked.text), input.unseen), tokens }
  const left = Math.min(tokens, handoverTokens) - countTokens(filling.summary)
  const most = Math.max(minUser, input.userTokens ?? left)
  for (const user of [most, Math.min(most, 1_000), minUser, 0]) {
    const page = yield* pageWith(input, { ...filling, user })
    if (countTokens(page.text) <= tokens) return page
  }
  return yield* shortenedPage(input, { ...filling, user: 0 })
}

/** Sections about the latest request. The one about the next step comes first. */
const speakOfLatest = [9, 8]

function announced(summary: string, unseen: Unseen | undefined): string {
  if (unseen === undefined) return summary
  const sections = readSections(summary)
  const at = speakOfLatest.map((number) => sections.findIndex((section) => section.number === number))
  const place = at.find((index) => index >= 0) ?? sections.length - 1
  const section = sections[place]
  if (!section) return summary
  const body = [section.body.trimEnd(), newerRequestLine[unseen]].filter((part) => part !== '').join('\n')
  return joinSections(sections.with(place, { ...section, body: place < sections.length - 1 ? `${body}\n` : body }))
}

/**
 * Shortens the summary until it fits together with the required parts: the rules, the user's latest messages and the doubts. It
 * gets all other room, because it is more trusted than older messages and the record.
 */
function* shortenedPage(input: ComposeInput, filling: Filling): Work<Page | undefined> {
  const { countTokens, ledger } = input
  const rules = ledger.rules.map(({ text }) => plainWords(text))
  const isRule = (line: string) => {
    const plain = rules.length === 0 ? '' : plainWords(line)
    return rules.some((rule) => holdsWords(plain, rule))
  }
  let room = filling.tokens
  for (let attempt = 0; attempt < maxAttempts && room >= minSummary; attempt++) {
    const summary = shortenSummary(filling.summary, { tokens: room, countTokens, isRule })
    if (summary.trim() === shortenedNote) break
    const page = yield* pageWith(input, { ...filling, summary, isShortened: true })
    const excess = countTokens(page.text) - filling.tokens
    if (excess <= 0) return page
    room -= excess + attempt * headingTokens
  }
  return yield* offlinePage(input, filling.tokens)
}

function* pageWith(input: ComposeInput, { checked, summary, tokens, user, isShortened }: Filling): Work<Page> {
  const { countTokens, ledger, recall, since, workspace, neverShortened, closes } = input
  const { text, harmful, ...found } = checked
  const count = (lines: readonly string[]) => countTokens(lines.join('\n'))
  const current = ledger.exchanges.filter(({ last }) => last >= since)
  const completed = completeWords(summary, current, { recall, countTokens, tokens: user, neverShortened, closes })
  const rulesBeside = (shown: string) => ruleLines(ledger, { shown, recall, tokens: tokens * rulesShare, countTokens })
  const state = user > 0 ? stateLines({ ledger, workspace, shown: completed.text, since }) : []
  const doubts = doubtLine(found.unsupported, completed.text)
  const left = (said: string, all = tokens) =>
    all - count([said, ...rulesBeside(said), ...state, ...doubts]) - headingTokens
  const earlier = isShortened ? [] : earlierWords(input, completed.text, Math.min(earlierTokens, left(completed.text)))
  const said = [completed.text, ...earlier].join('\n')
  const rules = rulesBeside(said)
  const size = countTokens(summary)
  const room = isShortened ? 0 : left(said, Math.min(tokens, input.handoverTokens)) - (recall ? hintTokens : 0)
  const facts = yield* recordBeside(input, [said, ...rules].join('\n'), room)
  const besideParts = [
    section(pageTitles.earlier, earlier),
    section(pageTitles.rules, rules),
    section(pageTitles.state, state),
    section(pageTitles.doubts, doubts),
    ...facts,
    ...(room > 0 ? hintIn(input, [said, ...rules, ...state, ...facts].join('\n')) : []),
  ]
  const cautions = cautionLines(harmful)
  const corrections = [...correctionLines(checked), section(pageTitles.words, completed.lines)]
  return {
    text: joined([...cautions, neutralizeReminders(completed.text), ...besideParts]),
    beside: joined([...cautions, ...corrections, ...besideParts]),
    report: {
      ...found,
      humanMessages: completed.counts,
      missingSections: input.isSectioned === false ? [] : missingSections(readSections(text), input.variant),
      ledgerTokens: count(facts),
    },
    composition: {
      model: size,
      user: completed.inserted + count(earlier),
      state: count(state),
      rules: count(rules),
      facts: count([...facts, ...doubts]),
    },
    isOffline: false,
  }
}

/** Facts that are missing both in the summary and in the user's messages next to it, under a heading. */
function* recordBeside(input: ComposeInput, alreadySaid: string, tokens: number): Work<readonly string[]> {
  const { countTokens, recall } = input
  const opening = section(pageTitles.record, [recordLead])
  const room = tokens - countTokens(`${opening}\n\n`)
  if (room <= 0) return []
  const text = yield* writingRecord(modelsOwn(input), { alreadySaid, recall, countTokens, tokens: room })
  return text === '' ? [] : [opening, text]
}

/** Facts that the page lacks and that the agent can find by search. */
function hintIn({ ledger, recall }: ComposeInput, page: string): readonly string[] {
  const terms = recall ? omittedTerms(ledger, page) : []
  return terms.length === 0 ? [] : [omittedLine(terms)]
}

/** An earlier summary by code only repeats the ledger. */
function modelsOwn(input: ComposeInput): ComposeInput {
  return input.earlierSummary?.includes(writtenByCodeStart) ? { ...input, earlierSummary: undefined } : input
}

/** Has only the latest request, which follows it. */
export const emptyPage: Page = {
  text: '',
  beside: '',
  report: {
    humanMessages: { total: 0, verbatim: 0, shortened: 0, putIn: 0 },
    falseQuotes: [],
    inferredApprovals: [],
    contradicted: [],
    unsupported: [],
    missingSections: [],
    ledgerTokens: 0,
  },
  composition: { model: 0, user: 0, state: 0, rules: 0, facts: 0 },
  isOffline: true,
}

function* offlinePage(input: ComposeInput, tokens: number): Work<Page | undefined> {
  const { countTokens, ledger, recall, workspace, since } = input
  const room = Math.min(input.handoverTokens, tokens)
  const state = section(
    pageTitles.state,
    linesWithin(stateLines({ ledger, workspace, shown: '', since }), { tokens: room / 4, countTokens }),
  )
  let left = room - countTokens(state) - (recall ? hintTokens : 0)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const conversation = yield* writingOffline({ ...modelsOwn(input), tokens: left })
    if (conversation === '') return undefined
    const rules = ruleLines(ledger, { shown: conversation, recall, tokens: room * rulesShare, countTokens })
    const parts = [conversation, section(pageTitles.rules, rules), state]
    const text = joined([...parts, ...hintIn(input, parts.join('\n'))])
    const excess = countTokens(text) - room
    if (excess > 0) {
      left -= excess + attempt * headingTokens
      continue
    }
    const said = ledger.exchanges.filter((exchange) => isSaid(exchange) && exchange.last >= since)
    const plain = plainWords(text)
    const isWhole = (exchange: Exchange) =>
      isSameWords(exchange, input.closes) || holdsWords(plain, plainWords(exchange.text))
    const verbatim = said.filter(isWhole).length
    const counts = { total: said.length, verbatim, shortened: said.length - verbatim, putIn: said.length }
    return {
      ...emptyPage,
      text: neutralizeReminders(text),
      report: { ...emptyPage.report, humanMessages: counts },
      composition: {
        ...emptyPage.composition,
        user: countTokens(conversation),
        state: countTokens(state),
        rules: countTokens(rules.join('\n')),
      },
    }
  }
  return undefined
}

/** User messages from before the last compaction. Selects lasting rules first, then the newest; the text has the oldest first. */
function earlierWords({ ledger, since, recall, countTokens }: ComposeInput, shown: string, tokens: number) {
  const where = searchable([shown, ...ledger.rules.map(({ text }) => text)].join('\n'))
  const isNew = (exchange: Exchange) => isSaid(exchange) && !isInSummary(exchange, where)
  const earlier = withoutRepeats(ledger.exchanges.filter((exchange) => exchange.last < since && isNew(exchange)))
  const byWorth = earlier.toReversed().toSorted((a, b) => Number(b.lasts ?? 0) - Number(a.lasts ?? 0))
  const lineOf = (exchange: Exchange) => `- ${wordsText(exchange, { recall, most: maxEarlier })}`
  const kept = new Set(linesWithin(byWorth.map(lineOf), { tokens, countTokens }))
  return earlier.map(lineOf).filter((line) => kept.has(line))
}

function cautionLines(harmful: readonly string[]): readonly string[] {
  if (harmful.length === 0) return []
  return [[cautionLine, ...harmful.map((claim) => `- ${onOneLine(claim)}`)].join('\n')]
}

/**
 * A summary of the provider must not change, so doubts are listed next to it instead of marked in it. The caution already names
 * harmful approvals.
 */
function correctionLines({ falseQuotes, inferredApprovals, harmful, contradicted, text }: Checked): readonly string[] {
  // The check marked each of them with the last known state.
  const marked = text.split('\n').filter((line) => contradicted.some((claim) => line.trim().startsWith(`${claim} (`)))
  const list = (lead: string, claims: readonly string[]) =>
    claims.length === 0 ? [] : [[lead, ...claims.map((claim) => `- "${onOneLine(claim)}"`)].join('\n')]
  return [
    ...list(doubtLeads.quotes, falseQuotes),
    ...list(
      doubtLeads.approvals,
      inferredApprovals.filter((claim) => !harmful.includes(claim)),
    ),
    ...list(doubtLeads.state, marked),
  ]
}

/** Makes a claim an item of a list that can neither end the list nor add to it. */
function onOneLine(claim: string): string {
  return claim
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^[-*]\s+/, '')
}

function doubtLine(names: readonly string[], text: string): readonly string[] {
  const named = names.filter((name) => text.includes(name)).map((name) => `\`${name.replaceAll('`', "'")}\``)
  return named.length === 0 ? [] : [`${unverifiedStart} ${named.join(', ')}.`]
}
