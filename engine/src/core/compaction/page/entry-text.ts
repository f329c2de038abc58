// The entries of the record as text, within a number of tokens: all of them as one line each, then the newest in more and
// more detail until the room is used.
import type { Exchange, Step } from '../../ledger/facts.ts'
import { leastTelling } from '../../ledger/state.ts'
import { condensed, gist, sentenceEnd, type TokenLimit, withoutCode } from '../../text/cut.ts'
import { neutralize, oneLine } from '../../text/neutralize.ts'
import type { Work } from '../../text/slices.ts'
import { locator, wordsText } from './complete-words.ts'
import type { RecordEntry } from './entries.ts'

/** Level of detail: characters of the user's words, of the report and of each step, and the number of last steps. */
type Detail = { readonly words: number; readonly report: number; readonly step: number; readonly steps: number }

/** `- "Fix the gate." → The hinge was too wide.` */
const oneLiner: Detail = { words: 160, report: 160, step: 0, steps: 0 }
/** A step on one line. */
const shortStep = 160
/** A text that the user pointed at gets this many times the characters of a step, about as many as a report. */
const sourceFactor = 8

/** Levels of detail, lowest first: conclusions before the steps that led to them. The last levels show as many steps as fit. */
const levels: readonly Partial<Detail>[] = [
  { words: 600, report: 400 },
  { words: 6_000, report: 1_200 },
  { report: 6_000 },
  { step: shortStep },
  { step: 400 },
  { step: 1_500 },
]

/** Approximate. Slices of work count characters. */
const charactersPerToken = 4

export type EntriesOptions = TokenLimit & {
  /** An earlier summary covers the messages before this one, so their entries stay one line each. */
  readonly since: number
  readonly recall: boolean
  /** Empty without a model. */
  readonly alreadySaid: string
}

/** The texts of the entries before `since` and from it on, oldest first. */
export function* entriesWithin(
  entries: readonly RecordEntry[],
  options: EntriesOptions,
): Work<{ readonly before: readonly string[]; readonly after: readonly string[] }> {
  const { since, alreadySaid } = options
  const all = new Map<Exchange, ShownEntry>()
  for (const entry of entries) {
    const shown = new ShownEntry(entry, options)
    all.set(entry.exchange, shown)
    yield charactersPerToken * shown.cost
  }
  let left = options.tokens - [...all.values()].reduce((sum, { cost }) => sum + cost, 0)
  // If one line each is already too much, the least telling entries are dropped.
  for (const exchange of left < 0 ? leastTelling([...all.keys()]) : []) {
    const shown = all.get(exchange)
    if (left >= 0 || !shown) break
    shown.isGone = true
    left += shown.cost
  }
  const isSince = ({ entry }: ShownEntry) => entry.exchange.last >= since
  const newestFirst = [...all.values()].filter(isSince).toReversed()
  // The next agent continues where this one stopped. Without a summary, only the steps of the current exchange say where that
  // was.
  const current = newestFirst.find(({ entry }) => entry.steps.length > 0)
  if (alreadySaid === '' && current) left -= current.grow({ step: shortStep }, left / 2)
  for (const more of levels) {
    for (const shown of newestFirst) {
      left -= shown.grow(more, left)
      if (!shown.isGone) yield charactersPerToken * shown.cost
    }
  }
  const [before, after]: [string[], string[]] = [[], []]
  for (const shown of all.values()) if (!shown.isGone) (isSince(shown) ? after : before).push(shown.text())
  return { before, after }
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

  /**
   * Shows more of the entry if that costs at most `maxCost` tokens, and returns the cost. A binary search finds the number of
   * steps that fit.
   */
  grow(more: Partial<Detail>, maxCost: number): number {
    if (this.isGone || maxCost <= 0) return 0
    const extraFor = (steps: number) => this.costOf({ ...this.detail, ...more, steps }) - this.cost
    let low = this.detail.steps
    let high = more.step === undefined ? low : this.entry.steps.length
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (extraFor(middle) <= maxCost) low = middle
      else high = middle - 1
    }
    const extra = extraFor(low)
    if (extra > maxCost || extra <= 0) return 0
    this.detail = { ...this.detail, ...more, steps: low }
    this.cost += extra
    return extra
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
  const onTheWay = steps.filter(({ type }) => type !== 'reported')
  const shown = new Set(onTheWay.slice(Math.max(0, onTheWay.length - detail.steps)))
  const lines = steps
    .filter((step) => shown.has(step) || step.type === 'reported' || step.text === exchange.done)
    .map((step) => stepLine(step, detail))
  // Indented, so that a list in a report does not read as more of the user's messages.
  return [`- ${isQuoted ? '' : 'User: '}${words}`, ...lines.map((line) => line.replace(/^(?=.)/gm, '  '))].join('\n')
}

/** A longer report is outlined; a shorter one is reduced to its first sentences, on one line. */
const shortReport = 400

function reportText(report: string, most: number): string {
  return neutralize(most > shortReport ? outlined(report, most) : oneLine(gist(report, most), 2 * most))
}

/** Whole, or without code, or the first sentence of every line: "- It is rusty. I saw it.\n- It fits." → "- It is rusty.\n- It fits." */
function outlined(text: string, most: number): string {
  const bare = text.length <= most ? text.trim() : withoutCode(text).replace(/\n\s*\n/g, '\n')
  if (bare.length <= most) return bare
  const first = (line: string) => (/^\s*\|/.test(line) ? line : line.split(sentenceEnd, 1).join(''))
  return condensed(bare.split('\n').map(first).join('\n'), most)
}

/** `- did: ran \`npm test\` → ok: 118 passed` or `- read: plan.md: …` */
function stepLine({ type, text }: Step, { report, step }: Detail): string {
  if (type === 'reported') return `Agent: ${reportText(text, report)}`
  const most = Math.max(step, shortStep) * (type === 'read' ? sourceFactor : 1)
  return `- ${type}: ${neutralize(condensed(text, most))}`
}
