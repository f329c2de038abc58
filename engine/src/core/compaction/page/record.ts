// The record: what the user and the agent said at the time, in order, as far as nothing else in the context says it.
// Without a model nothing is said yet, so the record is the whole page. It states nothing that nobody said.
import type { ErrorFact, Exchange, Ledger, Step } from '../../ledger/facts.ts'
import { leastTelling } from '../../ledger/state.ts'
import { oneLine } from '../../ledger/text.ts'
import { pageTitles } from '../../prompts/page.ts'
import { condensed, gap, gist, sentenceEnd, withoutCode } from '../../text/condense.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { locator, wordsText } from './complete-words.ts'
import { holdsWords, linesWithin, plainWords } from './plain-words.ts'
import { modelSummaryIn } from './read-page.ts'
import { createIsSaid, type IsSaid, unsaidIn } from './said.ts'
import { joinSections, readSections, type Section, shortenSummary } from './sections.ts'
import { type Told, type ToldStep, toldIn } from './told.ts'

export type Conversation = {
  readonly ledger: Ledger
  /** The summary that a model wrote at the last compaction. */
  readonly earlierSummary?: string | undefined
  /** The first message since then. */
  readonly since?: number
  /** The request that the context ends with: the record only refers to it. */
  readonly closes?: Exchange | undefined
}

export type RecordOptions = TokenLimit & {
  /** The summary and the user's words next to it; empty without a model. */
  readonly alreadySaid: string
  readonly recall: boolean
}

/** Sections under their headings, in at most `tokens`; empty if there is nothing to add. */
export function record(conversation: Conversation, options: RecordOptions): string {
  const { tokens, countTokens, alreadySaid } = options
  const { ledger, since = 0 } = conversation
  const room = (parts: readonly string[]) => tokens - countTokens(`${parts.join('\n\n')}\n\n`)
  const isSaid = alreadySaid === '' ? () => false : createIsSaid(alreadySaid)
  const errors = errorsWithin(ledger.errors, {
    isSaid,
    countTokens,
    tokens: Math.min(tokens / 8, room([heading('errors')])),
  })
  const errorTexts = (shownWords: string) =>
    errors.length === 0 ? [] : [`${heading('errors')}${errors.map((error) => errorLine(error, shownWords)).join('\n')}`]
  const earlier = earlierWithin(conversation, { ...options, isSaid, tokens: room(errorTexts('')) / 3 })
  const headings = [heading('conversation'), ...(earlier.length === 0 ? [] : [heading('since')])]
  const chosen = chosenExchanges({
    ...options,
    told: toldIn(ledger, { alreadySaid, isSaid, closes: conversation.closes }),
    hasSummary: alreadySaid !== '',
    since: earlier.length === 0 ? 0 : since,
    tokens: room([...earlier, ...headings, ...errorTexts('')]),
  })
  return [...earlier, ...chosen, ...errorTexts(plainWords(chosen.join('\n')))].join('\n\n')
}

function heading(name: keyof typeof pageTitles): string {
  return `## ${pageTitles[name]}\n`
}

/** Section 6 is quoted verbatim elsewhere, and the next step of then was taken. */
const outdated: readonly (number | undefined)[] = [undefined, 6, 9]
/** Next to a new summary, which has these sections itself, old tasks and old work would mislead. */
const replaced: readonly (number | undefined)[] = [7, 8]

type Unsaid = TokenLimit & { readonly isSaid: IsSaid }

/** What the earlier summary said that the new one does not, without what its client wrote around its sections. */
function earlierWithin(
  { earlierSummary = '' }: Conversation,
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
    .map((section) => (hasSummary ? { ...section, body: unsaidIn(section.body, { isSaid, known }) } : section))
    .filter(({ body }) => body.trim() !== '')
  const text = shortenSummary(joinSections(sections), { tokens, countTokens, lastToGo: new Set() })
  return sections.length === 0 || countTokens(text) > tokens ? [] : [`${heading('before')}${text}`]
}

/** The newest that fit, in order. */
function errorsWithin(errors: readonly ErrorFact[], { isSaid, ...limit }: Unsaid): readonly ErrorFact[] {
  const newestFirst = errors
    .filter(({ line, cause = '' }) => ![line, ...cause.split(sentenceEnd)].every(isSaid))
    .toReversed()
  const lines = newestFirst.map((error) => errorLine(error, ''))
  return newestFirst.slice(0, linesWithin(lines, limit).length).toReversed()
}

/** "- `make all` failed: no rule for gate. The agent: The rule is missing. It succeeded later.", without what is shown above. */
function errorLine({ what, line, cause = '', isFixed }: ErrorFact, shownWords: string): string {
  // A text that was too long to be kept whole is a report, not an explanation of this error.
  const sentences = cause === '' || cause.includes(gap) ? [] : cause.split(sentenceEnd)
  const own = sentences.filter((sentence) => !holdsWords(shownWords, plainWords(sentence)))
  const said = own.length === 0 ? '' : ` The agent: ${neutralize(oneLine(own.join(' '), 400))}`
  const failed = neutralize(oneLine(line, 200)).replace(/\.+$/, '')
  const name = neutralize(oneLine(what, 160)).replaceAll('`', "'")
  return `- \`${name}\` failed: ${failed}.${said}${isFixed ? ' It succeeded later.' : ''}`
}

/** How much of an exchange is shown, in characters, and how many of the last things that the agent said, did and saw. */
type Detail = {
  readonly words: number
  readonly report: number
  readonly said: number
  readonly did: number
  readonly saw: number
  /** Of each statement, of each action, and of each thing the user pointed at; the last of those gets four times that. */
  readonly statement: number
  readonly action: number
  readonly source: number
}

const oneLiner: Detail = { words: 160, report: 160, said: 0, did: 0, saw: 0, statement: 0, action: 0, source: 0 }
const longestWords = 6_000

class Shown {
  readonly told: Told
  detail = oneLiner
  cost: number
  isGone = false
  private readonly options: ChoiceOptions

  constructor(told: Told, options: ChoiceOptions) {
    this.told = told
    this.options = options
    this.cost = this.costOf(oneLiner)
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

  /** As many of the last statements or actions as fit, found by halving. */
  growCount(kind: 'said' | 'did', most: number): number {
    const short = kind === 'said' ? { statement: 300 } : { action: briefAction }
    let [low, high] = [0, this.told.steps.filter(({ type }) => type === kind).length]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.costOf({ ...this.detail, ...short, [kind]: middle }) - this.cost <= most) low = middle
      else high = middle - 1
    }
    return low === 0 ? 0 : this.grow({ ...short, [kind]: low }, most)
  }

  text(): string {
    return exchangeText(this.told, this.detail, this.options.recall)
  }

  private costOf(detail: Detail): number {
    return this.options.countTokens(`${exchangeText(this.told, detail, this.options.recall)}\n`)
  }
}

/** Levels of detail, lowest first. `share` caps how much of the remaining room one exchange may take. */
const growth: readonly (readonly [more: Partial<Detail> | 'said' | 'did', share: number])[] = [
  [{ words: 600, report: 400 }, 1],
  [{ words: longestWords, report: 1_200 }, 1],
  [{ source: 1_200 }, 0.3],
  [{ report: 6_000 }, 0.3],
  [{ report: 2_400 }, 1],
  [{ report: 6_000 }, 1],
  ['said', 0.6],
  ['did', 0.6],
  [{ saw: 4, action: 400 }, 1],
  [{ source: 3_000 }, 1],
  [{ report: 12_000 }, 1],
  [{ statement: 600 }, 1],
  [{ statement: 1_500 }, 1],
  [{ action: 600 }, 1],
  [{ saw: 12 }, 1],
]

type ChoiceOptions = TokenLimit & {
  readonly told: readonly Told[]
  readonly since: number
  readonly recall: boolean
  readonly hasSummary: boolean
}

/** Everything in one line each, then more and more of it, the newest first, until the space is used. */
function chosenExchanges(options: ChoiceOptions): readonly string[] {
  const { told, since: start } = options
  const all = new Map(told.map((one) => [one.exchange, new Shown(one, options)]))
  let left = options.tokens - [...all.values()].reduce((sum, { cost }) => sum + cost, 0)
  // Too many even for a line each: those that say least go.
  for (const exchange of left < 0 ? leastTelling(told.map((one) => one.exchange)) : []) {
    const shown = all.get(exchange)
    if (left >= 0 || !shown) break
    shown.isGone = true
    left += shown.cost
  }
  // The earlier summary covers what was said before it.
  const newestFirst = [...all.values()].filter((shown) => shown.told.exchange.last >= start).toReversed()
  for (const shown of newestFirst.slice(0, 3)) left -= shown.grow({ words: longestWords, report: 1_200 }, left / 3)
  // The next agent continues where this one was when the conversation ended. A summary says where that was.
  const current = newestFirst.find((shown) => (shown.told.exchange.steps ?? []).length > 0)
  if (current && !options.hasSummary) {
    const room = left / 4
    left -= current.grow({ source: 1_500 }, room) || current.grow({ source: 400 }, room)
    left -= current.grow({ saw: 3, action: briefAction }, room / 3)
    left -= current.growCount('said', room / 3)
    left -= current.growCount('did', room / 3)
  }
  for (const [more, share] of growth) {
    for (const shown of newestFirst) {
      left -= typeof more === 'string' ? shown.growCount(more, left * share) : shown.grow(more, left * share)
    }
  }
  const texts = (isSince: boolean) =>
    [...all.values()]
      .filter((shown) => !shown.isGone && shown.told.exchange.last >= start === isSince)
      .map((shown) => shown.text())
  const [before, since] = [texts(false), texts(true)]
  const under = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}\n${lines.join('\n')}`]
  if (before.length === 0) return under(pageTitles.conversation, since)
  return [...under(pageTitles.conversation, before), ...under(pageTitles.since, since)]
}

const seeSummary = '(see the summary)'

/** A longer report is outlined; a shorter one is reduced to its first sentences, on one line. */
const shortReport = 400

/**
 * In one line: `- "Fix the gate." → The hinge was too wide. The agent edited gate.ts`. In detail:
 *
 *     - User: "Fix the gate."
 *       - did: edited gate.ts
 *       Agent: The hinge was too wide.
 */
function exchangeText({ exchange, isQuoted, steps }: Told, detail: Detail, recall: boolean): string {
  const said = isQuoted ? locator(exchange) : wordsText(exchange, { recall, most: detail.words })
  if (detail === oneLiner) {
    const report = steps.find(({ type }) => type === 'reported')?.text ?? ''
    const deed = exchange.done === undefined ? undefined : steps.find(({ text }) => text === exchange.done)
    const result = [reportText(report, detail.report), deed ? `The agent ${neutralize(deed.text)}` : '']
    const shown = result.filter((part) => part !== '').join(' ')
    const nothing = isQuoted && steps.length === 0 ? ` ${seeSummary}` : ''
    return `- ${said}${shown === '' ? nothing : ` → ${shown}`}`
  }
  const shown = shownSteps(steps, detail)
  const lastRead = steps.findLast(({ type }) => type === 'read')
  const lines = steps
    .filter((step) => shown.has(step) || step.type === 'reported' || step.text === exchange.done)
    .map((step) => stepLine(step, detail, step === lastRead ? 4 : 1))
  const nothing = isQuoted && steps.length === 0 ? ` ${seeSummary}` : ''
  return [`- ${isQuoted ? '' : 'User: '}${said}${nothing}`, ...lines.map(indented)].join('\n')
}

function reportText(report: string, most: number): string {
  return neutralize(most > shortReport ? outlined(report, most) : oneLine(gist(report, most), 2 * most))
}

/** Every line of it, so that a list in a report does not read as more of the user's messages. */
function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

/** Whole, or without code, or the first sentences of everything in it, since findings are often in the middle. */
function outlined(text: string, most: number): string {
  if (text.length <= most) return text.trim()
  const lines = withoutCode(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const first = (count: number) =>
    lines.map((line) => (/^\s*\|/.test(line) ? line : line.split(sentenceEnd).slice(0, count).join(' '))).join('\n')
  return (
    [Number.POSITIVE_INFINITY, 4, 3, 2].map(first).find(({ length }) => length <= most) ?? condensed(first(1), most)
  )
}

/** The last of them, and whatever the user pointed at. */
function shownSteps(steps: readonly ToldStep[], detail: Detail): ReadonlySet<ToldStep> {
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

/** An action of at most this many characters is shown on one line. */
const briefAction = 160

function stepLine({ type, text }: ToldStep, detail: Detail, times: number): string {
  const { report, statement, action, source } = detail
  if (type === 'reported') return `Agent: ${reportText(text, report)}`
  const most = { said: statement, did: Math.max(action, briefAction), saw: action, read: source * times }[type]
  const isProse = text.includes('\n') || type === 'said'
  const isBrief = !isProse || (type === 'did' && most <= briefAction)
  const shown = isBrief ? oneLine(text, most) : condensed(text, most)
  return `- ${type === 'read' ? 'read what the user pointed at' : type}: ${neutralize(shown)}`
}
