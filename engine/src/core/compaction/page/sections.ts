// Finds the nine sections of a summary in a model's text by their titles. Joining the sections restores the text exactly, so
// the text below an unrecognized heading stays in its place.
import { leftOut, shortenedNote } from '../../prompts/page.ts'
import { type SummaryVariant, sectionTitles } from '../../prompts/summary.ts'
import type { TokenLimit } from '../../text/cut.ts'

export type Section = {
  /** Undefined for the text before the first heading, and if no heading was recognized. */
  readonly number: number | undefined
  /** The line of the heading as written. Empty if there is none. */
  readonly heading: string
  readonly body: string
  /** No line follows the heading, not even an empty one. */
  readonly isBare?: true
}

/** Words that identify a title, whatever else it contains: "## 4. Errors and how they were fixed" is section 4. */
const known: readonly RegExp[] = [
  /primary request|\bintent\b/i,
  /technical concepts|key concepts/i,
  /\bfiles\b|code sections/i,
  /\berrors\b/i,
  /problem.?solving/i,
  /user.{0,12}messages|messages.{0,12}user/i,
  /\bpending\b|open tasks/i,
  /current work|work completed|current state/i,
  /next steps?\b|continuing work/i,
]

type Candidate = { readonly line: number; readonly number: number | undefined; readonly title: string }

/** `## 4. Errors: none`, `**4) Errors**`, `4: Errors`: text may follow the title on the same line. */
const numbered = /^[ \t]{0,3}(?:#{1,6}[ \t]*)?(?:\*\*|__)?[ \t]*(\d)[.):][ \t]*(\S.*)$/
/** A title without a number must look like a heading: `## Errors`, `**Errors**`. */
const unnumbered = /^[ \t]{0,3}(?:#{1,6}[ \t]+|\*\*|__)(\S.*)$/
/** Characters. A title is at the start of its line. */
const maxTitle = 100

export function readSections(text: string): readonly Section[] {
  const lines = text.split('\n')
  const heads = headings(candidatesIn(lines))
  if (heads.length === 0) return [{ number: undefined, heading: '', body: text }]
  const [first] = heads
  const before = lines.slice(0, first?.line ?? 0)
  const sections = heads.map(({ line, number }, index) => {
    const end = heads[index + 1]?.line ?? lines.length
    const body = lines.slice(line + 1, end)
    const bare = body.length === 0 ? ({ isBare: true } as const) : {}
    return { number, heading: lines[line] ?? '', body: body.join('\n'), ...bare }
  })
  return before.length === 0 ? sections : [{ number: undefined, heading: '', body: before.join('\n') }, ...sections]
}

export function joinSections(sections: readonly Section[]): string {
  return sections
    .map(({ heading, body, isBare }) => {
      if (heading === '') return body
      return isBare && body === '' ? heading : `${heading}\n${body}`
    })
    .join('\n')
}

/** Titles of the sections that a summary lacks: "Errors and fixes" if it goes from section 3 to 5. */
export function missingSections(sections: readonly Section[], variant: SummaryVariant): readonly string[] {
  const found = new Set(sections.map(({ number }) => number))
  return sectionTitles(variant).filter((_, index) => !found.has(index + 1))
}

function candidatesIn(lines: readonly string[]): readonly Candidate[] {
  const found: Candidate[] = []
  let isFenced = false
  for (const [line, text] of lines.entries()) {
    if (/^\s*(?:```|~~~)/.test(text)) isFenced = !isFenced
    if (isFenced || text.length > 2_000) continue
    const [, digit, rest] = numbered.exec(text) ?? []
    const title = rest ?? unnumbered.exec(text)?.[1]
    if (title === undefined) continue
    const number = digit === undefined || digit === '0' ? undefined : Number(digit)
    found.push({ line, number, title: title.slice(0, maxTitle) })
  }
  return found
}

type Heading = { readonly line: number; readonly number: number }

/**
 * Finds headings by their titles. In a translated summary, which has other titles, by the numbers 1 to 9: "4. Fehler und
 * Lösungen:" → 4.
 */
function headings(candidates: readonly Candidate[]): readonly Heading[] {
  const titled = rising(
    candidates.flatMap(({ line, number, title }) => {
      const byTitle = known.findIndex((words) => words.test(title)) + 1
      // "1. Fix the errors" is an item of a list: a number counts only with the title that belongs to it.
      const is = number === undefined ? byTitle : known[number - 1]?.test(title) ? number : 0
      return is === 0 ? [] : [{ line, number: is }]
    }),
  )
  if (titled.length >= 3) return titled
  const isTitleLike = ({ title }: Candidate) => title.length < maxTitle && /(?::|\*\*|__)[ \t]*$/.test(title)
  const counted = candidates.filter((candidate) => candidate.number !== undefined && isTitleLike(candidate))
  const inOrder = rising(counted.map(({ line, number }) => ({ line, number: number ?? 1 })))
  return inOrder.length === 9 ? inOrder : titled
}

/** Each number once, in rising order: 1, 2, 2, 4, 3 → 1, 2, 4. */
function rising(found: readonly Heading[]): readonly Heading[] {
  const kept: Heading[] = []
  for (const heading of found) if (heading.number > (kept.at(-1)?.number ?? 0)) kept.push(heading)
  return kept
}

export type ShortenOptions = TokenLimit & {
  /** True for the user's rules, which stay. */
  readonly isRule?: (line: string) => boolean
  /** Sections that are shortened last. Default: pending tasks, current work and the next step. */
  readonly lastToGo?: ReadonlySet<number | undefined>
}

/**
 * The user's messages are shortened first: section 1 repeats the requests, and the record has the results. Rules always stay.
 */
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
  // Each group shrinks to a fifth of its size before the next one is touched.
  shrinkEvenly(asked, Math.max(size(asked) / 5, roomBeside([...others, ...late])))
  shrinkEvenly(others, Math.max(size(others) / 5, roomBeside([...asked, ...late])))
  shrinkEvenly(late, roomBeside(early))
  shrinkEvenly(early, roomBeside(late))
  return `${shortenedNote}\n\n${joinSections(sections.map((section) => section.result()).filter(({ body }) => body.trim() !== ''))}`
}

/** Shrinks each section to the same share of its size: 300 and 100 tokens within 200 → 150 and 50. */
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
  /** Remaining tokens of the section. */
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

  /**
   * Drops code first, because the file can be read again. Then it drops the last sentences of long bullets, then whole bullets:
   * the deepest first, then the oldest. A lead-in is dropped together with the last item that it introduces.
   */
  shrink(tokens: number): void {
    const removable = this.units.filter((unit) => !isLeadIn(unit) && !this.options.isRule?.(unit.text))
    const order = removable.toSorted((a, b) => b.depth - a.depth)
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

  private dropSentence(unit: Unit): void {
    const cost = this.options.countTokens(`${unit.sentences.at(-1)} `)
    unit.sentences = unit.sentences.slice(0, -1)
    unit.cost -= cost
    this.tokens -= cost
  }

  /** Drops a unit with everything below it, and also its lead-in if it was the last item. */
  private drop(unit: Unit): void {
    unit.isGone = true
    this.tokens -= unit.cost
    for (const child of unit.children) if (!child.isGone) this.drop(child)
    const { above } = unit
    if (above && !above.isGone && isLeadIn(above) && !above.children.findLast(({ isGone }) => !isGone)) this.drop(above)
  }
}

/** "- Two reasons:" whose reasons were dropped becomes "- Two reasons (details left out)". */
function textLeft({ kind, sentences, children }: Unit): string {
  const text = sentences.join(' ')
  const isBare = kind === 'item' && children.length > 0 && children.every(({ isGone }) => isGone)
  return isBare ? text.replace(/:((?:\*\*|__)?)\s*$/, `$1 ${leftOut}`) : text
}

/** A paragraph of more sentences is one piece: dropping them one by one would take quadratic time. */
const maxSentences = 200

/** A remark in parentheses stays with its sentence: "It was pushed. (last seen: no push after this commit)". */
function sentencesIn(text: string): readonly string[] {
  const sentences = text.split(/(?<=[.!?;。！？])[ \t]+(?=[^\s(])/)
  return sentences.length > maxSentences ? [text] : sentences
}

/** A line, table row or code block that can be left out without breaking the text around it. */
export type ProseBlock = {
  readonly text: string
  readonly kind: 'code' | 'item' | 'row' | 'paragraph'
  /** How far it is indented; deeper is more detailed. */
  readonly depth: number
  /** Index of the block that introduces it; -1 for none. */
  readonly parent: number
}

/** "```ts", "~~~" */
const fence = /^\s*(?:```|~~~)/
/** "- a", "  2) a" */
const bullet = /^\s*(?:[-*+•]|\d+[.)])\s/

/** "Two reasons:\n- a\n  - b" → a paragraph, an item below it, and an item below that. */
export function proseBlocks(text: string): readonly ProseBlock[] {
  const blocks: ProseBlock[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.trim() === '') continue
    const indent = line.search(/\S/)
    if (fence.test(line)) {
      let last = at + 1
      while (last < lines.length - 1 && !fence.test(lines[last] ?? '')) last++
      const code = lines.slice(at, last + 1).join('\n')
      const above = blocks.at(-1)
      const parent = above?.kind === 'code' ? above.parent : blocks.length - 1
      blocks.push({ text: code, kind: 'code', depth: indent + 1, parent })
      at = last
      continue
    }
    const kind = /^\s*\|/.test(line) ? 'row' : bullet.test(line) ? 'item' : 'paragraph'
    blocks.push({ text: line, kind, depth: indent, parent: parentOf(blocks, { indent, kind }) })
  }
  return blocks
}

/** The nearest block above that is less indented, or a line on the same level that ends with a colon or is a heading. */
function parentOf(
  blocks: readonly ProseBlock[],
  { indent, kind }: { readonly indent: number; readonly kind: ProseBlock['kind'] },
): number {
  for (let at = blocks.length - 1; ; ) {
    const above = blocks[at]
    if (above === undefined) return -1
    if (above.kind !== 'code' && above.depth < indent) return at
    if (above.kind !== 'code' && above.depth === indent) {
      if (isLeadIn(above)) return at
      // Siblings have the same parent.
      return above.kind === 'paragraph' || kind === 'paragraph' ? -1 : above.parent
    }
    // No block between a deeper one and its parent is less deep.
    at = above.kind !== 'code' && above.parent >= 0 ? above.parent : at - 1
  }
}

/** "Two reasons:", "## Reasons", "**Reasons**" or "REASONS" on a line of its own. */
export function isLeadIn({ text, kind }: Pick<ProseBlock, 'text' | 'kind'>): boolean {
  return (
    kind === 'paragraph' &&
    /:(?:\*\*|__)?\s*$|^\s*#{1,6}\s|^\s*\*\*[^*]+\*\*:?\s*$|^\s*\p{Lu}[\p{Lu} ]{3,40}$/u.test(text)
  )
}
