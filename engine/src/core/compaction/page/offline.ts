// The summary without a model, made from what the user and the agent said: each request with what the agent reported at
// the end of it. The newest get the most space, old ones shrink to a line. It states nothing that nobody said.
import type { ErrorFact, Exchange, Ledger, Step } from '../../ledger/facts.ts'
import { leastTelling } from '../../ledger/state.ts'
import { oneLine } from '../../ledger/text.ts'
import { pageTitles, writtenByCode } from '../../prompts/page.ts'
import { condensed, gist, sentenceEnd, withoutCode } from '../../text/condense.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { wordsText } from './complete-words.ts'
import { linesWithin } from './plain-words.ts'
import { joinSections, readSections, shortenSummary } from './sections.ts'

export type OfflineInput = TokenLimit & {
  readonly ledger: Ledger
  /** What a model wrote at the last compaction, where one did. */
  readonly earlierSummary?: string | undefined
  /** The first message since then. */
  readonly since?: number
  readonly instructions: string
  readonly recall: boolean
}

/** Never more than `tokens`; empty where not even its opening fits. */
export function offlineSummary(input: OfflineInput): string {
  const { tokens, countTokens, ledger, instructions } = input
  const asked = instructions.trim() === '' ? [] : [`Asked of this summary: ${neutralize(oneLine(instructions, 600))}`]
  const opening = [writtenByCode, ...asked].join('\n')
  const room = (parts: readonly string[]) => tokens - countTokens([opening, ...parts].join('\n\n'))
  if (room([]) < 0) return ''
  const errors = errorsWithin(ledger.errors, {
    ...input,
    tokens: Math.min(tokens / 8, room([`## ${pageTitles.errors}\n`])),
  })
  const told = shortenSummary(stillTrue(input.earlierSummary ?? ''), {
    tokens: room(errors) * 0.33,
    countTokens,
    lastToGo: new Set(),
  })
  const summary = told === '' ? [] : [`## ${pageTitles.before}\n${told}`]
  const earlier = room([...summary, ...errors]) < 0 ? [] : summary
  const headings = [`## ${pageTitles.conversation}\n`, ...(earlier.length === 0 ? [] : [`## ${pageTitles.since}\n`])]
  const conversation = chosenExchanges({
    ...input,
    since: earlier.length === 0 ? 0 : (input.since ?? 0),
    tokens: room([...earlier, ...headings, ...errors]),
  })
  return [opening, ...earlier, ...conversation, ...errors].join('\n\n')
}

/** What the user said is shown verbatim, and the next step of then was taken. */
const superseded: ReadonlySet<number | undefined> = new Set([undefined, 6, 9])

/** Of an earlier summary its sections, without what its client wrote around them. */
function stillTrue(summary: string): string {
  const kept = readSections(summary).filter(({ number }) => !superseded.has(number))
  return kept.length === 0 ? summary : joinSections(kept)
}

/** The newest that fit, in order, under their heading. */
function errorsWithin(errors: readonly ErrorFact[], limit: TokenLimit): readonly string[] {
  const lines = errors.map(({ what, line, cause, isFixed }) => {
    const said = cause === undefined ? '' : ` The agent: ${neutralize(oneLine(cause, 400))}`
    const failed = neutralize(oneLine(line, 200)).replace(/\.+$/, '')
    const name = neutralize(oneLine(what, 160)).replaceAll('`', "'")
    return `- \`${name}\` failed: ${failed}.${said}${isFixed ? ' It succeeded later.' : ''}`
  })
  const kept = linesWithin(lines.toReversed(), limit).toReversed()
  return kept.length === 0 ? [] : [`## ${pageTitles.errors}\n${kept.join('\n')}`]
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
    let [low, high] = [0, this.exchange.steps?.filter(({ type }) => type === kind).length ?? 0]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.costOf({ ...this.detail, ...short, [kind]: middle }) - this.cost <= most) low = middle
      else high = middle - 1
    }
    return low === 0 ? 0 : this.grow({ ...short, [kind]: low }, most)
  }

  text(): string {
    return exchangeText(this.exchange, this.detail, this.input.recall)
  }

  private costOf(detail: Detail): number {
    return this.input.countTokens(`${exchangeText(this.exchange, detail, this.input.recall)}\n`)
  }
}

/** More and more of everything. Where a share is given, one exchange takes no more of what is left, so that older ones keep theirs. */
const growth: readonly (readonly [more: Partial<Detail> | 'said' | 'did', share: number])[] = [
  [{ words: 600, report: 400 }, 1],
  [{ words: longestWords, report: 1_200 }, 1],
  [{ source: 1_200 }, 0.3],
  [{ report: 6_000 }, 0.3],
  ['said', 0.6],
  [{ report: 2_400 }, 1],
  ['did', 0.6],
  [{ saw: 4, action: 400 }, 1],
  [{ source: 3_000 }, 1],
  [{ report: 6_000 }, 1],
  [{ report: 12_000 }, 1],
  [{ statement: 600 }, 1],
  [{ statement: 1_500 }, 1],
  [{ action: 600 }, 1],
  [{ saw: 12 }, 1],
]

/** Everything in one line each, then more and more of it, the newest first, until the space is used. */
function chosenExchanges(input: OfflineInput): readonly string[] {
  const { ledger, since: start = 0 } = input
  const { exchanges } = ledger
  const all = new Map(exchanges.map((exchange) => [exchange, new Shown(exchange, input)]))
  let left = input.tokens - [...all.values()].reduce((sum, { cost }) => sum + cost, 0)
  // Too many even for a line each: those that say least go.
  for (const exchange of left < 0 ? leastTelling(exchanges) : []) {
    const shown = all.get(exchange)
    if (left >= 0 || !shown) break
    shown.isGone = true
    left += shown.cost
  }
  // What was said before, the earlier summary tells.
  const newestFirst = [...all.values()].filter(({ exchange }) => exchange.last >= start).toReversed()
  for (const shown of newestFirst.slice(0, 3)) left -= shown.grow({ words: longestWords, report: 1_200 }, left / 3)
  // What the agent was doing when the conversation ended is where the next one goes on.
  const current = newestFirst.find(({ exchange }) => (exchange.steps ?? []).length > 0)
  if (current) {
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
      .filter(({ exchange, isGone }) => !isGone && exchange.last >= start === isSince)
      .map((shown) => shown.text())
  const [before, since] = [texts(false), texts(true)]
  const under = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}\n${lines.join('\n')}`]
  if (before.length === 0) return under(pageTitles.conversation, since)
  return [...under(pageTitles.conversation, before), ...under(pageTitles.since, since)]
}

/** Of a report cut to less, the beginning and the end would be fragments. */
const shortReport = 400

function exchangeText(exchange: Exchange, detail: Detail, recall: boolean): string {
  const { report = '', steps = [], done = '' } = exchange
  const said = wordsText(exchange, { recall, most: detail.words })
  const told = neutralize(
    detail.report > shortReport
      ? outlined(report, detail.report)
      : oneLine(gist(report, detail.report), 2 * detail.report),
  )
  const deed = neutralize(done)
  if (detail === oneLiner) {
    const result = [told, deed === '' ? '' : `The agent ${deed}`].filter((part) => part !== '').join(' ')
    return `- ${said}${result === '' ? '' : ` → ${result}`}`
  }
  const shown = shownSteps(steps, detail)
  // The report stands where it was said: what comes behind it was done after it.
  const place = steps.findLastIndex(({ type, text }) => type === 'said' && report.startsWith(text))
  const lastRead = steps.findLast(({ type }) => type === 'read')
  const lines = steps.flatMap((step, at) => {
    if (at === place) return [`Agent: ${told}`]
    return shown.has(step) ? [stepLine(step, detail, step === lastRead ? 4 : 1)] : []
  })
  const end = [...(deed === '' ? [] : [`- did: ${deed}`]), ...(place >= 0 || told === '' ? [] : [`Agent: ${told}`])]
  return [`- User: ${said}`, ...[...lines, ...end].map(indented)].join('\n')
}

/** Every line of it, so that a list in a report does not read as more of the user's messages. */
function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

/** Whole, or without code, or the first sentences of everything in it: findings stand in the middle. */
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

/** An action of at most this stands on one line. */
const briefAction = 160

function stepLine({ type, text }: Step, { statement, action, source }: Detail, times: number): string {
  const most = { said: statement, did: action, saw: action, read: source * times }[type]
  const isProse = text.includes('\n') || type === 'said'
  const isBrief = !isProse || (type === 'did' && most <= briefAction)
  const shown = isBrief ? oneLine(text, most) : condensed(text, most)
  return `- ${type === 'read' ? 'read what the user pointed at' : type}: ${neutralize(shown)}`
}
