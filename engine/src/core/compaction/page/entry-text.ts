// The entries of the record as text, within a number of tokens: all of them as one line each, then the newest in more and
// more detail until the room is used.
import type { Exchange, Step } from '../../ledger/facts.ts'
import { leastTelling } from '../../ledger/state.ts'
import { condensed, gist, sentenceEnd, withoutCode } from '../../text/condense.ts'
import type { TokenLimit } from '../../text/cut.ts'
import { neutralize } from '../../text/neutralize.ts'
import { oneLine } from '../../text/one-line.ts'
import type { Work } from '../../text/slices.ts'
import { locator, wordsText } from './complete-words.ts'
import type { RecordEntry, RecordStep } from './entries.ts'

/** How much of an entry is shown: characters of each text, and how many of the last statements, actions and searches. */
type Detail = {
  /** Characters of the user's words and of the report. */
  readonly words: number
  readonly report: number
  /** How many. */
  readonly said: number
  readonly did: number
  readonly saw: number
  /** Characters of each statement and action, and of each text that the user pointed at; the last of those gets four times that. */
  readonly statement: number
  readonly action: number
  readonly source: number
}

const oneLiner: Detail = { words: 160, report: 160, said: 0, did: 0, saw: 0, statement: 0, action: 0, source: 0 }
const maxWords = 6_000
/** An action of at most this many characters is shown on one line. */
const briefAction = 160

/** Levels of detail, lowest first. `share` caps how much of the remaining room one entry may take. */
const levels: readonly (readonly [more: Partial<Detail> | 'said' | 'did', share: number])[] = [
  [{ words: 600, report: 400 }, 1],
  [{ words: maxWords, report: 1_200 }, 1],
  [{ source: 1_200 }, 0.3],
  [{ report: 2_400 }, 1],
  [{ report: 6_000 }, 1],
  ['said', 0.6],
  [{ source: 3_000 }, 0.3],
  ['did', 0.6],
  [{ statement: 600 }, 1],
  [{ saw: 4, action: 400 }, 1],
  [{ statement: 1_500 }, 1],
  [{ action: 600 }, 1],
  [{ saw: 12 }, 1],
]

export type EntriesOptions = TokenLimit & {
  /** An earlier summary covers what was said before this message: entries from before it stay one line each. */
  readonly since: number
  readonly recall: boolean
  /** Empty without a model. */
  readonly alreadySaid: string
}

/** The texts of the entries from before `since` and from then on, oldest first. */
export function* entriesWithin(
  entries: readonly RecordEntry[],
  options: EntriesOptions,
): Work<{ readonly before: readonly string[]; readonly after: readonly string[] }> {
  const { since, alreadySaid } = options
  const all = new Map<Exchange, ShownEntry>()
  for (const entry of entries) {
    const shown = new ShownEntry(entry, options)
    all.set(entry.exchange, shown)
    yield shown.length
  }
  let left = options.tokens - [...all.values()].reduce((sum, { cost }) => sum + cost, 0)
  // Too many even for a line each: those that say least go.
  for (const exchange of left < 0 ? leastTelling([...all.keys()]) : []) {
    const shown = all.get(exchange)
    if (left >= 0 || !shown) break
    shown.isGone = true
    left += shown.cost
  }
  const isSince = ({ entry }: ShownEntry) => entry.exchange.last >= since
  const newestFirst = [...all.values()].filter(isSince).toReversed()
  for (const shown of newestFirst.slice(0, 3)) left -= shown.grow({ words: maxWords, report: 1_200 }, left / 3)
  // The next agent continues where this one stopped. A summary says where that was.
  const current = newestFirst.find(({ entry }) => (entry.exchange.steps ?? []).length > 0)
  if (current && alreadySaid === '') {
    const room = left / 4
    left -= current.grow({ source: 1_500 }, room) || current.grow({ source: 400 }, room)
    left -= current.grow({ saw: 3, action: briefAction }, room / 3)
    left -= current.growCount('said', room / 3)
    left -= current.growCount('did', room / 3)
  }
  for (const [more, share] of levels) {
    for (const shown of newestFirst) {
      left -= typeof more === 'string' ? shown.growCount(more, left * share) : shown.grow(more, left * share)
      if (!shown.isGone) yield shown.length
    }
  }
  const [before, after]: [string[], string[]] = [[], []]
  for (const shown of all.values()) if (!shown.isGone) (isSince(shown) ? after : before).push(shown.text())
  return { before, after }
}

/** Tokens of all entries with one line each. */
export function oneLineTokens(
  entries: readonly RecordEntry[],
  { countTokens, recall }: Omit<EntriesOptions, 'since'>,
): number {
  return countTokens(entries.map((entry) => entryText(entry, oneLiner, recall)).join('\n'))
}

class ShownEntry {
  readonly entry: RecordEntry
  cost: number
  isGone = false
  private detail = oneLiner
  private readonly options: EntriesOptions

  constructor(entry: RecordEntry, options: EntriesOptions) {
    this.entry = entry
    this.options = options
    this.cost = this.costOf(oneLiner)
  }

  /** Characters, roughly. */
  get length(): number {
    return this.cost * 4
  }

  /** Shows more of it if that costs at most `maxCost` more tokens; returns what it costs. */
  grow(more: Partial<Detail>, maxCost: number): number {
    if (this.isGone || maxCost <= 0) return 0
    const detail = { ...this.detail, ...more }
    const cost = this.costOf(detail)
    const extra = cost - this.cost
    if (extra > maxCost || extra <= 0) return 0
    this.detail = detail
    this.cost = cost
    return extra
  }

  /** As many of the last statements or actions as fit, found by halving. */
  growCount(kind: 'said' | 'did', maxCost: number): number {
    if (this.isGone || maxCost <= 0) return 0
    const short = kind === 'said' ? { statement: 300 } : { action: briefAction }
    let [low, high] = [0, this.entry.steps.filter(({ type }) => type === kind).length]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.costOf({ ...this.detail, ...short, [kind]: middle }) - this.cost <= maxCost) low = middle
      else high = middle - 1
    }
    return low === 0 ? 0 : this.grow({ ...short, [kind]: low }, maxCost)
  }

  text(detail = this.detail): string {
    return entryText(this.entry, detail, this.options.recall)
  }

  private costOf(detail: Detail): number {
    return this.options.countTokens(`${this.text(detail)}\n`)
  }
}

/**
 * In one line: `- "Fix the gate." → The hinge was too wide. The agent edited gate.ts`. In detail:
 *
 *     - User: "Fix the gate."
 *       - did: edited gate.ts
 *       Agent: The hinge was too wide.
 *
 * Where the user's words are quoted elsewhere: `- On "Fix the gate."`, followed by the same. With nothing new: `- Then came "Fix the gate."`.
 */
function entryText({ exchange, isQuoted, steps }: RecordEntry, detail: Detail, recall: boolean): string {
  const words = isQuoted ? locator(exchange) : wordsText(exchange, { recall, most: detail.words })
  if (isQuoted && steps.length === 0) return `- ${locator(exchange, 'Then came')}`
  if (detail === oneLiner) {
    const report = steps.find(({ type }) => type === 'reported')?.text ?? ''
    const action = exchange.done === undefined ? undefined : steps.find(({ text }) => text === exchange.done)
    const result = [reportText(report, detail.report), action ? `The agent ${neutralize(action.text)}` : '']
    const shown = result.filter((part) => part !== '').join(' ')
    return `- ${words}${shown === '' ? '' : ` → ${shown}`}`
  }
  const shown = shownSteps(steps, detail)
  const lastRead = steps.findLast(({ type }) => type === 'read')
  const lines = steps
    .filter((step) => shown.has(step) || step.type === 'reported' || step.text === exchange.done)
    .map((step) => stepLine(step, detail, step === lastRead ? 4 : 1))
  return [`- ${isQuoted ? '' : 'User: '}${words}`, ...lines.map(indented)].join('\n')
}

/** Every line of it, so that a list in a report does not read as more of the user's messages. */
function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

/** A longer report is outlined; a shorter one is reduced to its first sentences, on one line. */
const shortReport = 400

function reportText(report: string, most: number): string {
  return neutralize(most > shortReport ? outlined(report, most) : oneLine(gist(report, most), 2 * most))
}

/** Whole, or without code, or the first sentence of every line, since findings are often in the middle. */
function outlined(text: string, most: number): string {
  const bare = text.length <= most ? text.trim() : withoutCode(text).replace(/\n\s*\n/g, '\n')
  if (bare.length <= most) return bare
  const first = (line: string) => (/^\s*\|/.test(line) ? line : line.split(sentenceEnd, 1).join(''))
  return condensed(bare.split('\n').map(first).join('\n'), most)
}

/** The last of each type, and everything that the user pointed at. */
function shownSteps(steps: readonly RecordStep[], detail: Detail): ReadonlySet<RecordStep> {
  const last = (count: number, kind: Step['type']) =>
    count === 0 ? [] : steps.filter(({ type }) => type === kind).slice(-count)
  return new Set([
    ...last(detail.said, 'said'),
    ...last(detail.did, 'did'),
    ...last(detail.action === 0 ? 0 : detail.saw, 'saw'),
    ...last(detail.source, 'read'),
  ])
}

/** `- did: ran \`npm test\` → ok: 118 passed` or `- read: plan.md: …` */
function stepLine({ type, text }: RecordStep, detail: Detail, times: number): string {
  const { report, statement, action, source } = detail
  if (type === 'reported') return `Agent: ${reportText(text, report)}`
  const most = {
    said: statement,
    did: Math.max(action, briefAction),
    saw: action,
    read: source * times,
    opened: briefAction,
  }[type]
  const isProse = type === 'said' || (text.includes('\n') && (type !== 'did' || most > briefAction))
  const shown = isProse ? condensed(text, most) : oneLine(text, most)
  return `- ${type}: ${neutralize(shown)}`
}
