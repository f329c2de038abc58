// Shortens a summary that does not fit after its author was asked for a shorter one and gave none. It leaves out whole
// bullets, rows and sentences, the most detailed and oldest first: of the user's messages before anything else, then
// evenly across sections. What the work is and what comes next goes last.
import { leftOut, shortenedNote } from '../../prompts/page.ts'
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

/** What was asked the first section says as well; rules and the latest messages stay, and what came of it is elsewhere. */
const messages = 6
const unfinished: ReadonlySet<number | undefined> = new Set([7, 8, 9])

export function shortenSummary(text: string, options: ShortenOptions): string {
  const { tokens, countTokens } = options
  if (countTokens(text) <= tokens) return text
  const room = tokens - countTokens(`${shortenedNote}\n\n`)
  const sections = readSections(text).map((section) => new Shrinking(section, options))
  const size = (list: readonly Shrinking[]) => list.reduce((sum, section) => sum + section.tokens, 0)
  const late = sections.filter(({ isLate }) => isLate)
  const early = sections.filter(({ isLate }) => !isLate)
  const asked = early.filter(({ number }) => number === messages)
  const others = early.filter(({ number }) => number !== messages)
  const roomBeside = (list: readonly Shrinking[]) => Math.max(0, room - size(list))
  // Sections give way down to a fifth of their size before the next are touched.
  shrinkEvenly(asked, Math.max(size(asked) / 5, roomBeside([...others, ...late])))
  shrinkEvenly(others, Math.max(size(others) / 5, roomBeside([...asked, ...late])))
  shrinkEvenly(late, roomBeside(early))
  shrinkEvenly(early, roomBeside(late))
  return `${shortenedNote}\n\n${joinSections(sections.map((section) => section.result()).filter(({ body }) => body.trim() !== ''))}`
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
  readonly number: Section['number']
  readonly isLate: boolean
  /** Of what is left of the section. */
  tokens = 0
  private readonly section: Section
  private readonly units: Unit[] = []
  private readonly options: ShortenOptions

  constructor(section: Section, options: ShortenOptions) {
    const { countTokens } = options
    this.section = section
    this.number = section.number
    this.options = options
    this.isLate = (options.lastToGo ?? unfinished).has(section.number)
    for (const block of proseBlocks(section.body)) {
      const above = this.units[block.parent]
      const sentences = block.kind === 'code' || block.kind === 'row' ? [block.text] : sentencesIn(block.text)
      const unit = { ...block, above, children: [], sentences, isGone: false, cost: countTokens(`${block.text}\n`) }
      above?.children.push(unit)
      this.units.push(unit)
      this.tokens += unit.cost
    }
    if (this.units.length > 0) this.tokens += countTokens(`${section.heading}\n`)
  }

  /** Code first, since the file can be read again; then the last sentences of long bullets; then whole bullets. */
  shrink(tokens: number): void {
    const order = this.removalOrder()
    for (const unit of order) if (this.tokens > tokens && unit.kind === 'code' && !unit.isGone) this.drop(unit)
    for (const unit of order) {
      while (this.tokens > tokens && !unit.isGone && unit.sentences.length > 2) this.dropSentence(unit)
    }
    for (const unit of order) if (this.tokens > tokens && !unit.isGone) this.drop(unit)
  }

  result(): Section {
    const kept = this.units.filter(({ isGone }) => !isGone).map(textLeft)
    return { ...this.section, body: kept.length === 0 ? '' : `${kept.join('\n')}\n` }
  }

  /** The deepest first, then the oldest; lead-ins go with the last of what they introduce. */
  private removalOrder(): readonly Unit[] {
    const { isRule } = this.options
    return this.units.filter((unit) => !isLeadIn(unit) && !isRule?.(unit.text)).toSorted((a, b) => b.depth - a.depth)
  }

  private dropSentence(unit: Unit): void {
    const cost = this.options.countTokens(`${unit.sentences.at(-1)} `)
    unit.sentences = unit.sentences.slice(0, -1)
    unit.cost -= cost
    this.tokens -= cost
  }

  /** With everything that hangs under it, and the lead-in when it was the last. */
  private drop(unit: Unit): void {
    unit.isGone = true
    this.tokens -= unit.cost
    for (const child of unit.children) if (!child.isGone) this.drop(child)
    const { above } = unit
    if (above && !above.isGone && isLeadIn(above) && !above.children.findLast(({ isGone }) => !isGone)) this.drop(above)
  }
}

/** An item that introduced what was left out says so instead of promising it. */
function textLeft({ kind, sentences, children }: Unit): string {
  const text = sentences.join(' ')
  const isBare = kind === 'item' && children.length > 0 && children.every(({ isGone }) => isGone)
  return isBare ? text.replace(/:((?:\*\*|__)?)\s*$/, `$1 ${leftOut}`) : text
}

/** Short enough that taking them apart stays linear. */
const mostSentences = 200

function sentencesIn(text: string): readonly string[] {
  return text.split(/(?<=[.!?;。！？])[ \t]+(?=\S)/, mostSentences + 1).length > mostSentences
    ? [text]
    : text.split(/(?<=[.!?;。！？])[ \t]+(?=\S)/)
}
