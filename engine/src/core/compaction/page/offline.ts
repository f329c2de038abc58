// The summary without a model, made from what the user and the agent said: each request with what the agent reported at
// the end of it. The newest get the most space, old ones shrink to a line. It states nothing that nobody said.
import type { ErrorFact, Exchange, Ledger, Step } from '../../ledger/facts.ts'
import { leastTelling } from '../../ledger/state.ts'
import { briefStep } from '../../ledger/steps.ts'
import { oneLine } from '../../ledger/text.ts'
import { pageTitles, writtenByCode } from '../../prompts/page.ts'
import { condensed, gist, sentenceEnd, withoutCode } from '../../text/condense.ts'
import { clippedAtWord } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { wordsText } from './exchange-text.ts'
import { joinSections, readSections } from './sections.ts'
import { shortenSummary } from './shorten.ts'

export type OfflineInput = {
  readonly ledger: Ledger
  /** What a model wrote at the last compaction, where one did. */
  readonly earlierSummary?: string | undefined
  readonly instructions: string
  readonly recall: boolean
  readonly tokens: number
  readonly countTokens: (text: string) => number
}

/** How much of an exchange is shown, in characters, and how many of the last things that the agent said, did and saw. */
type Detail = {
  readonly words: number
  readonly report: number
  readonly said: number
  readonly did: number
  readonly saw: number
  /** Of each statement, of each action, and of each thing the user pointed at. */
  readonly statement: number
  readonly action: number
  readonly source: number
}

const oneLiner: Detail = { words: 160, report: 160, said: 0, did: 0, saw: 0, statement: 0, action: 0, source: 0 }
const longestWords = 6_000
/** Of a report cut to less, the beginning and the end would be fragments. */
const shortReport = 400

/** Never more than `tokens`; empty where not even its opening fits. */
export function offlineSummary(input: OfflineInput): string {
  const { tokens, countTokens, ledger, instructions } = input
  const opening = [
    writtenByCode,
    ...(instructions.trim() === '' ? [] : [`Asked of this summary: ${neutralize(oneLine(instructions, 600))}`]),
  ].join('\n')
  const roomBeside = (parts: Partial<Parts>) => tokens - countTokens(joined({ ...noParts, opening, ...parts }))
  if (roomBeside({}) < 0) return ''
  const lines = within(errorLines(ledger.errors), { tokens: tokens / 8, countTokens })
  const errors = roomBeside({ errors: lines }) < 0 ? [] : lines
  const shortened = shortenSummary(stillTrue(input.earlierSummary ?? ''), {
    tokens: roomBeside({ errors }) * 0.33,
    countTokens,
    lastToGo: new Set(),
  })
  const earlier = roomBeside({ errors, earlier: shortened }) < 0 ? '' : shortened
  // With the heading above them.
  const left = roomBeside({ errors, earlier, exchanges: [''] })
  return joined({ opening, errors, earlier, exchanges: chosenExchanges(ledger.exchanges, { ...input, tokens: left }) })
}

/** What the user said is shown verbatim, and the next step of then was taken. */
const superseded: ReadonlySet<number | undefined> = new Set([undefined, 6, 9])

/** Of an earlier summary its sections, without what its client wrote around them. */
function stillTrue(summary: string): string {
  const sections = readSections(summary)
  const kept = sections.filter(({ number }) => !superseded.has(number))
  return kept.length === 0 ? summary : joinSections(kept)
}

type Parts = {
  readonly opening: string
  readonly earlier: string
  readonly exchanges: readonly string[]
  readonly errors: readonly string[]
}

const noParts: Parts = { opening: '', earlier: '', exchanges: [], errors: [] }

function joined({ opening, earlier, exchanges, errors }: Parts): string {
  return [
    opening,
    ...(earlier === '' ? [] : [`## ${pageTitles.before}\n${earlier}`]),
    ...(exchanges.length === 0 ? [] : [`## ${pageTitles.conversation}\n${exchanges.join('\n')}`]),
    ...(errors.length === 0 ? [] : [`## ${pageTitles.errors}\n${errors.join('\n')}`]),
  ].join('\n\n')
}

class Shown {
  readonly exchange: Exchange
  detail = oneLiner
  cost: number
  isGone = false
  private readonly input: OfflineInput

  constructor(exchange: Exchange, input: OfflineInput) {
    this.exchange = exchange
    this.input = input
    this.cost = this.costOf(oneLiner)
  }

  costOf(detail: Detail): number {
    return this.input.countTokens(`${exchangeText(this.exchange, detail, this.input)}\n`)
  }

  /** Shows more of it if that costs no more than this; returns what it costs. */
  grow(more: Partial<Detail>, most: number): number {
    const detail = { ...this.detail, ...more }
    const cost = this.costOf(detail)
    const extra = cost - this.cost
    if (this.isGone || extra > most || extra <= 0) return 0
    this.detail = detail
    this.cost = cost
    return extra
  }

  text(): string {
    return exchangeText(this.exchange, this.detail, this.input)
  }
}

/** Everything in one line each, then more and more of it, the newest first, until the space is used. */
function chosenExchanges(exchanges: readonly Exchange[], input: OfflineInput): readonly string[] {
  const all = exchanges.map((exchange) => new Shown(exchange, input))
  let left = input.tokens - all.reduce((sum, { cost }) => sum + cost, 0)
  // Too many even for a line each: those that say least go.
  const shownOf = new Map(all.map((shown) => [shown.exchange, shown]))
  for (const exchange of left < 0 ? leastTelling(exchanges) : []) {
    const shown = shownOf.get(exchange)
    if (left >= 0 || !shown) break
    shown.isGone = true
    left += shown.cost
  }
  const newestFirst = all.toReversed()
  const growAll = (more: Partial<Detail>, share = 1) => {
    for (const shown of newestFirst) left -= shown.grow(more, left * share)
  }
  for (const shown of newestFirst.slice(0, 3)) left -= shown.grow({ words: longestWords, report: 1_200 }, left / 3)
  // What the agent was doing when the conversation ended is where the next one goes on.
  const current = newestFirst.find(({ exchange }) => (exchange.steps ?? []).length > 0)
  if (current) {
    const room = left * currentShare
    left -= current.grow({ source: 1_500 }, room) || current.grow({ source: 400 }, room)
    left -= current.grow({ saw: 3, action: 160 }, room / 3)
    left -= growCount(current, 'said', room / 3)
    left -= growCount(current, 'did', room / 3)
  }
  growAll({ words: 600, report: 400 })
  growAll({ words: longestWords, report: 1_200 })
  growAll({ source: 1_200 }, stepsShare / 2)
  // Of what is left a long exchange takes no more than a part, so that older ones keep theirs.
  const growSteps = (kind: 'said' | 'did') => {
    for (const shown of newestFirst) left -= growCount(shown, kind, left * stepsShare)
  }
  growAll({ report: 6_000 }, stepsShare / 2)
  growSteps('said')
  growAll({ report: 2_400 })
  growSteps('did')
  growAll({ saw: 4, action: 400 })
  growAll({ source: 3_000 })
  growAll({ report: 6_000 })
  growAll({ report: 12_000 })
  growAll({ statement: 600 })
  growAll({ statement: 1_500 })
  growAll({ action: 600 })
  growAll({ saw: 12 })
  return all.filter(({ isGone }) => !isGone).map((shown) => shown.text())
}

const stepsShare = 0.6
const currentShare = 0.25
const short = { said: { statement: 300 }, did: { action: 160 } } as const

/** As many of the last statements or actions as fit, found by halving. */
function growCount(shown: Shown, kind: 'said' | 'did', tokens: number): number {
  let [low, high] = [0, shown.exchange.steps?.filter(({ type }) => type === kind).length ?? 0]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (shown.costOf({ ...shown.detail, ...short[kind], [kind]: middle }) - shown.cost <= tokens) low = middle
    else high = middle - 1
  }
  return low === 0 ? 0 : shown.grow({ ...short[kind], [kind]: low }, tokens)
}

function exchangeText(exchange: Exchange, detail: Detail, { recall }: Pick<OfflineInput, 'recall'>): string {
  const { report = '', steps = [], done = '' } = exchange
  const said = wordsText(exchange, { recall, most: detail.words })
  const told = neutralize(
    detail.report > shortReport
      ? outlined(report, detail.report)
      : oneLine(gist(report, detail.report), 2 * detail.report),
  )
  const result = [told, done === '' ? '' : `The agent ${neutralize(done)}`].filter((part) => part !== '').join(' ')
  if (detail === oneLiner) return `- ${said}${result === '' ? '' : ` → ${result}`}`
  const shown = shownSteps(steps, detail)
  const lastRead = steps.findLast(({ type }) => type === 'read')
  // The report stands where it was said: what comes behind it was done after it.
  const place = steps.findLastIndex(({ type, text }) => type === 'said' && report.startsWith(text))
  const lines = steps.flatMap((step, at) =>
    at === place
      ? [`  Agent: ${told}`]
      : shown.has(step)
        ? [stepLine(step, { ...detail, source: step === lastRead ? 4 * detail.source : detail.source })]
        : [],
  )
  const last = done === '' ? [] : [`  - did: ${neutralize(done)}`]
  return [`- User: ${said}`, ...lines, ...last, ...(place >= 0 || told === '' ? [] : [`  Agent: ${told}`])].join('\n')
}

/** The last of them, and whatever the user pointed at. */
function shownSteps(steps: readonly Step[], detail: Detail): ReadonlySet<Step> {
  const last = (count: number, kind: Step['type']) =>
    count === 0 ? [] : steps.filter(({ type }) => type === kind).slice(-count)
  return new Set([
    ...last(detail.said, 'said'),
    ...last(detail.did, 'did'),
    // Of no characters, a look shows nothing.
    ...last(detail.action === 0 ? 0 : detail.saw, 'saw'),
    ...last(detail.source, 'read'),
  ])
}

const briefAction = 160

function stepLine({ type, text }: Step, { statement, action, source }: Detail): string {
  const most = { said: statement, did: action, saw: action, read: source }[type]
  const isBrief = type === 'did' && most <= briefAction
  const shown =
    text.includes('\n') || type === 'said'
      ? isBrief
        ? briefStep(text, most)
        : condensed(text, most)
      : clippedAtWord(text, most)
  return `  - ${type === 'read' ? 'read what the user pointed at' : type}: ${neutralize(shown)}`
}

function errorLines(errors: readonly ErrorFact[]): readonly string[] {
  return errors.map(({ what, line, cause, isFixed }) => {
    const said = cause === undefined ? '' : ` The agent: ${neutralize(oneLine(cause, 400))}`
    const fixed = isFixed ? ' It succeeded later.' : ''
    const failed = neutralize(oneLine(line, 200)).replace(/\.+$/, '')
    return `- \`${neutralize(oneLine(what, 160)).replaceAll('`', "'")}\` failed: ${failed}.${said}${fixed}`
  })
}

type Limit = { readonly tokens: number; readonly countTokens: (text: string) => number }

/** The newest that fit, in order. */
function within(lines: readonly string[], { tokens, countTokens }: Limit): readonly string[] {
  let left = tokens
  const kept: string[] = []
  for (const line of lines.toReversed()) {
    left -= countTokens(`${line}\n`)
    if (left < 0) break
    kept.unshift(line)
  }
  return kept
}

/** Whole, or the first sentence of everything in it, or its beginning and end: findings stand in the middle. */
function outlined(text: string, most: number): string {
  if (text.length <= most) return text.trim()
  const bare = withoutCode(text)
  if (bare.length <= most) return bare.trim()
  const lines = bare.split('\n').filter((line) => line.trim() !== '')
  const sentences = lines.map((line) => (/^\s*\|/.test(line) ? [line] : line.split(sentenceEnd)))
  let length = bare.length
  for (let count = 4; count >= 1; count--) {
    const short = sentences.map((all) => all.slice(0, count).join(' ')).join('\n')
    length = short.length
    if (length <= most) return short
  }
  return condensed(sentences.map((all) => all[0] ?? '').join('\n'), most)
}
