// Shortens a summary that does not fit after its author was asked for a shorter one and gave none. It leaves out whole
// bullets, rows and sentences, evenly across sections, the most detailed and oldest first. What the work is and what
// comes next goes last.
import { shortenedNote } from '../../prompts/page.ts'
import { isLeadIn, type ProseBlock, proseBlocks } from './blocks.ts'
import { joinSections, readSections, type Section } from './sections.ts'

export type ShortenOptions = {
  readonly tokens: number
  readonly countTokens: (text: string) => number
  /** Lines that stay: the user's rules. */
  readonly isRule?: (line: string) => boolean
  /** Sections that stay longest; unless told, pending tasks, current work and the next step. */
  readonly lastToGo?: ReadonlySet<number | undefined>
}

const wordsSection = 6
const unfinished: ReadonlySet<number | undefined> = new Set([7, 8, 9])

export function shortenSummary(text: string, options: ShortenOptions): string {
  const { tokens, countTokens } = options
  if (countTokens(text) <= tokens) return text
  const most = tokens - countTokens(`${shortenedNote}\n\n`)
  const first = shortenedTo(text, most, options)
  // Tokens of parts do not add up exactly to those of the whole.
  const excess = countTokens(first) - most
  return `${shortenedNote}\n\n${excess > 0 ? shortenedTo(text, most - excess, options) : first}`
}

function shortenedTo(text: string, room: number, options: ShortenOptions): string {
  const sections = readSections(text).map((section) => new Shrinking(section, options))
  const size = (list: readonly Shrinking[]) => list.reduce((sum, section) => sum + section.tokens, 0)
  const [late, early] = [sections.filter((each) => each.isLate), sections.filter((each) => !each.isLate)]
  // The older half of the user's messages goes first: the transcript has them verbatim, and what they asked for stands in
  // the other sections. Then a part of the early ones, half of the late ones, and all that is still too much of the early.
  const rounds = [
    { of: sections.filter((each) => each.isWords), least: 1 / 2 },
    { of: early, least: 1 / 2 },
    { of: late, least: 1 / 2 },
    { of: early, least: 0 },
    { of: late, least: 0 },
  ]
  for (const { of, least } of rounds) {
    shrinkEvenly(of, Math.max(size(of) * least, room - size(sections) + size(of)))
  }
  let left = room - size(sections)
  for (const section of [...late, ...early.toReversed()]) left -= section.refill(left)
  return joinSections(sections.map((section) => section.result()).filter(({ body }) => body.trim() !== ''))
}

/** Each section to the same share of its size. */
function shrinkEvenly(sections: readonly Shrinking[], tokens: number): void {
  const size = sections.reduce((sum, section) => sum + section.tokens, 0)
  if (size <= tokens || size === 0) return
  for (const section of sections) section.shrink((section.tokens * tokens) / size)
}

type Unit = ProseBlock & {
  readonly children: Unit[]
  readonly above: Unit | undefined
  sentences: readonly string[]
  isGone: boolean
  cost: number
}

class Shrinking {
  readonly isLate: boolean
  readonly isWords: boolean
  /** Of what is left of the section. */
  tokens = 0
  private readonly section: Section
  private readonly units: Unit[] = []
  private readonly taken: { readonly unit: Unit; readonly sentences: readonly string[]; readonly cost: number }[] = []
  private readonly options: ShortenOptions

  constructor(section: Section, options: ShortenOptions) {
    const { countTokens } = options
    this.section = section
    this.options = options
    this.isWords = section.number === wordsSection
    this.isLate = (options.lastToGo ?? unfinished).has(section.number)
    for (const block of proseBlocks(section.body)) {
      const above = this.units[block.parent]
      // What the user said stays as it was said, or goes.
      const isWhole = this.isWords || block.kind === 'code' || block.kind === 'row'
      const sentences = isWhole ? [block.text] : sentencesIn(block.text)
      const unit = { ...block, above, children: [], sentences, isGone: false, cost: countTokens(`${block.text}\n`) }
      above?.children.push(unit)
      this.units.push(unit)
      this.tokens += unit.cost
    }
    if (this.units.length > 0) this.tokens += countTokens(`${section.heading}\n`)
  }

  /** Code first, since the file can be read again; then the last sentences of the longest bullets; then whole bullets. */
  shrink(tokens: number): void {
    const order = this.removalOrder()
    for (const unit of order) if (this.tokens > tokens && unit.kind === 'code' && !unit.isGone) this.drop(unit)
    const longest = order.reduce((most, { sentences }) => Math.max(most, sentences.length), 0)
    for (let length = longest; length > 1 && this.tokens > tokens; length--) {
      for (const unit of order) {
        if (this.tokens > tokens && !unit.isGone && unit.sentences.length >= length) this.dropSentence(unit)
      }
    }
    for (const unit of order) if (this.tokens > tokens && !unit.isGone) this.drop(unit)
  }

  /** Brings back what still fits, the last to go first; returns what that costs. */
  refill(tokens: number): number {
    let left = tokens
    for (const { unit, sentences, cost } of this.taken.toReversed()) {
      const isNext = unit.isGone ? unit.sentences === sentences : unit.sentences.length === sentences.length - 1
      if (!isNext || cost > left || (unit.above?.isGone ?? false)) continue
      left -= cost
      this.tokens += cost
      unit.isGone = false
      unit.sentences = sentences
    }
    return tokens - left
  }

  result(): Section {
    const kept = this.units.filter(({ isGone }) => !isGone).flatMap(remaining)
    return { ...this.section, body: kept.length === 0 ? '' : `${kept.join('\n')}\n` }
  }

  /** The deepest first, then the oldest; lead-ins go with the last of what they introduce. */
  private removalOrder(): readonly Unit[] {
    const { isRule } = this.options
    return this.units.filter((unit) => !isLeadIn(unit) && !isRule?.(unit.text)).toSorted((a, b) => b.depth - a.depth)
  }

  private dropSentence(unit: Unit): void {
    const cost = this.options.countTokens(`${unit.sentences.at(-1)} `)
    this.taken.push({ unit, sentences: unit.sentences, cost })
    unit.sentences = unit.sentences.slice(0, -1)
    unit.cost -= cost
    this.tokens -= cost
  }

  /** With everything that hangs under it, and the lead-in when it was the last. */
  private drop(unit: Unit): void {
    unit.isGone = true
    this.taken.push({ unit, sentences: unit.sentences, cost: unit.cost })
    this.tokens -= unit.cost
    for (const child of unit.children) if (!child.isGone) this.drop(child)
    const { above } = unit
    if (above && !above.isGone && isLeadIn(above) && above.children.every(({ isGone }) => isGone)) this.drop(above)
  }
}

const fewWords = 3

/** What is left of a unit: not the few words that introduce what is gone. */
function remaining(unit: Unit): readonly string[] {
  const text = unit.sentences.join(' ')
  const isEmptied = unit.children.length > 0 && unit.children.every(({ isGone }) => isGone)
  if (!isEmptied || !/:(?:\*\*|__)?\s*$/.test(text)) return isEmptied && isLeadIn(unit) ? [] : [text]
  return text.trim().split(/\s+/).length <= fewWords + 1 || isLeadIn(unit) ? [] : [`${text.trimEnd()} […]`]
}

/** Short enough that taking them apart stays linear. */
const mostSentences = 200
const sentenceEnd = /(?<=[.!?。！？])[ \t]+(?=\S)/

/** A sentence does not end inside brackets or quotation marks: half of a quotation would be a false one. */
function sentencesIn(text: string): readonly string[] {
  const parts = text.split(sentenceEnd, mostSentences + 1)
  if (parts.length > mostSentences) return [text]
  const sentences: string[][] = []
  let open = noMarks
  for (const part of parts) {
    if (isClosed(open)) {
      sentences.push([part])
      open = noMarks
    } else sentences.at(-1)?.push(part)
    open = marksIn(part, open)
  }
  return sentences.map((sentence) => sentence.join(' '))
}

type Marks = { readonly brackets: number; readonly quotes: number; readonly ticks: number }
const noMarks: Marks = { brackets: 0, quotes: 0, ticks: 0 }

function marksIn(text: string, before: Marks): Marks {
  const count = (mark: string) => text.split(mark).length - 1
  return {
    brackets: before.brackets + count('(') + count('“') - count(')') - count('”'),
    quotes: before.quotes + count('"'),
    ticks: before.ticks + count('`'),
  }
}

function isClosed({ brackets, quotes, ticks }: Marks): boolean {
  return brackets <= 0 && quotes % 2 === 0 && ticks % 2 === 0
}
