// A model's summary held against its source: quotations and approvals nobody gave taken out, names found nowhere told,
// sections put in order. What it says otherwise is left as the model wrote it.
import { cut } from '../ledger/text.ts'
import type { Line } from '../ledger/units.ts'
import { blocksOf, isToolResult, isToolUse } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { proseBlocks } from './blocks.ts'
import type { Frame } from './frame.ts'
import { type HumanMessage, humanMessages, typedText } from './human.ts'
import { proseSlots } from './offline.ts'
import type { ChosenLine, PageOptions } from './page.ts'
import { createQuoteMender } from './quotes.ts'
import { readSections, type Section, type SectionNumber, sectionTitle, type Variant } from './sections.ts'
import type { SummarySource } from './source.ts'
import { unsupportedIn } from './support.ts'

export type MendedProse = {
  /** Mended, section 6 left out: it is written anew. */
  readonly sections: readonly Section[]
  readonly falseQuotes: readonly string[]
  readonly inferredApprovals: readonly string[]
  readonly unsupported: readonly string[]
  readonly missingSections: readonly string[]
  /** How many of these the model had not written down word for word. */
  readonly putIn: (messages: readonly HumanMessage[]) => number
}

const longestQuote = 200

export function mendProse(prose: string, source: SummarySource): MendedProse {
  const all = [...source.messages, ...source.kept]
  const human = [
    ...humanMessages(all).map(({ text }) => text),
    ...source.ledger.typed.map(({ text }) => typedText(text)),
    ...source.ledger.constraints.map(({ text }) => text),
    ...source.ledger.decisions.filter(({ by }) => by === 'human').map(({ text }) => text),
  ]
  const { preamble, sections } = readSections(prose)
  const hasNone = sections.every(({ isMissing }) => isMissing)
  const bodies = sections.map((section): Section => {
    if (section.number === 6) return { ...section, body: '' }
    // An answer without sections is taken whole.
    return hasNone && section.number === 1 ? { ...section, body: preamble } : section
  })
  const mendQuotes = createQuoteMender({ human, agreed: () => hasAgreed(all) })
  const mended = bodies.map((section) => ({ section, ...mendQuotes(section.body) }))
  const text = mended.map((part) => part.text).join('\n')
  const short = (quotes: readonly string[]) => quotes.map((quote) => quote.slice(0, longestQuote))
  return {
    sections: mended.map(({ section, text: body }) => ({ ...section, body })),
    falseQuotes: short(mended.flatMap((part) => part.falseQuotes)),
    inferredApprovals: short(mended.flatMap((part) => part.inferredApprovals)),
    unsupported: unsupportedIn(text, { messages: all, ledger: source.ledger }),
    missingSections: sections.filter(({ isMissing }) => isMissing).map(({ number }) => sectionTitle(number)),
    putIn: (messages) => messages.filter(({ text: words }) => !prose.includes(words)).length,
  }
}

/** A plan was accepted or a question answered through the client, not in words of its own. */
function hasAgreed(messages: readonly ViewMessage[]): boolean {
  const asked = new Set<string>()
  for (const { origin, content } of messages) {
    for (const block of blocksOf(content)) {
      if (origin === 'assistant' && isToolUse(block) && /^(?:ExitPlanMode|AskUserQuestion)$/i.test(block.name)) {
        asked.add(block.id)
      } else if (isToolResult(block) && asked.has(block.tool_use_id) && block.is_error !== true) return true
    }
  }
  return false
}

type Framing = { readonly mended: MendedProse; readonly variant: Variant }

function pageFrame(frame: Frame, { mended, variant }: Framing): PageOptions {
  return {
    doubtful: mended.unsupported,
    opening: [],
    slots: proseSlots,
    variant,
    end: frame.end,
    fixed: { 6: frame.said },
  }
}

function factLines(frame: Frame): readonly string[] {
  return frame.rules.length === 0 ? [] : ['Standing constraints, in the user’s words:', ...frame.rules]
}

type Whole = { readonly variant: Variant; readonly source: SummarySource }

/** Every line of the prose in its place, but for those that are left to the facts. */
export function wholeProsePage(frame: Frame, mended: MendedProse, { variant, source }: Whole): PageOptions {
  const page = pageFrame(frame, { mended, variant })
  const isLeft = leftToFacts(source)
  const bodies = Object.fromEntries(
    mended.sections
      .map(({ number, body }) => [number, textOfLines(linesOf(body, (line) => !isLeft(line)))] as const)
      .filter(([, body]) => body.trim() !== '')
      .map(([number, body]) => [number, [body]]),
  )
  return { ...page, fixed: { ...bodies, 6: frame.said, facts: factLines(frame) } }
}

/** What the prose tells of files that were not touched since: it competes with the facts. */
export function oldFileLines(mended: MendedProse, source: SummarySource): readonly Line[] {
  const isLeft = leftToFacts(source)
  return mended.sections.flatMap(({ number, body }) =>
    linesOf(body, isLeft)
      .filter(({ text }) => !bareFile.test(text))
      .map(({ text }, order) => ({ section: `prose ${number}`, order, text, worth: worths[number] ?? 1 })),
  )
}

/** `- src/a.ts (read)`: a path, and nothing said about it but what was done. */
const bareFile = /^\s*[-*]\s+[`*]*(?:[\w@.~-]*\/)+[\w@.-]+[`*]*(?:\s*\(\w+\))?\s*$/
const ofFile = /^\s*[-*]\s+[`*]*((?:[\w@.~-]*\/)+[\w@.-]+)/

type BodyLine = { readonly text: string; readonly isAlone: boolean }

/**
 * Lines that tell of one file each and are no news: they only name it, or it was not touched since the last compaction.
 * Models copy such lists from summary to summary, longer each time.
 */
function leftToFacts({ ledger, messages }: SummarySource): (line: BodyLine) => boolean {
  const since = ledger.messages - messages.length
  const old = new Set(ledger.files.filter(({ last }) => last < since).map(({ path }) => path))
  return ({ text, isAlone }) => isAlone && (bareFile.test(text) || old.has(ofFile.exec(text)?.[1] ?? ''))
}

const textOfLines = (lines: readonly BodyLine[]) => lines.map(({ text }) => text).join('\n')

function linesOf(body: string, isSo: (line: BodyLine) => boolean): readonly BodyLine[] {
  const lines = body.split('\n')
  const hangs = (line: string, next = '') => next.trim() !== '' && next.search(/\S/) > line.search(/\S/)
  return lines.map((text, at) => ({ text, isAlone: !hangs(text, lines[at + 1]) })).filter(isSo)
}

export type ContestedProse = {
  readonly page: PageOptions
  /** Those that are chosen with the lines of the facts. */
  readonly lines: readonly Line[]
}

/** The frame and the beginnings that stand in any case; the other lines of the prose compete with the facts. */
export function contestedProse(frame: Frame, mended: MendedProse, { variant, room }: Contest): ContestedProse {
  const page = pageFrame(frame, { mended, variant })
  const all = proseLines(mended)
  const isShown = (line: ChosenLine) => line.order === 0 && beginnings.has(line.section)
  const begun = room < roomForBeginnings ? [] : all.filter(isShown).map((line) => ({ line, ...begin(line.text) }))
  const fixed = Object.fromEntries(begun.map(({ line, start }) => [beginnings.get(line.section), [start]]))
  const above = linesAbove(all)
  return {
    page: {
      ...page,
      fixed: { ...fixed, ...page.fixed, facts: factLines(frame) },
      above: (line) => (begun.length === 0 ? above(line) : above(line).filter((other) => !isShown(other))),
    },
    lines: [
      ...all.filter((line) => begun.length === 0 || !isShown(line)),
      ...begun.flatMap(({ line, rest }) => (rest === '' ? [] : [{ ...line, order: 0.5, text: rest }])),
    ],
  }
}

type Contest = { readonly variant: Variant; readonly room: number }

/** Where the work is going: what was asked, what is pending, what is being done, what comes next. */
const beginnings: ReadonlyMap<string, SectionNumber> = new Map(
  [1, 7, 8, 9].map((number) => [`prose ${number}`, number as SectionNumber]),
)
const longestBeginning = 240
/** With less, every line must earn its place. */
const roomForBeginnings = 1500

/** As many sentences as are short enough, at least one, if need be cut. */
function begin(text: string): { readonly start: string; readonly rest: string } {
  if (text.length <= longestBeginning) return { start: text, rest: '' }
  const sentences = text.split(/(?<=[.!?]) +(?=\S)/)
  let count = 1
  while (sentences.slice(0, count + 1).join(' ').length <= longestBeginning) count++
  return { start: cut(sentences.slice(0, count).join(' '), longestBeginning), rest: sentences.slice(count).join(' ') }
}

/** The bullets and announcements that stand over a line: each less indented than the one below it. */
function linesAbove(lines: readonly Line[]): (line: ChosenLine) => readonly ChosenLine[] {
  const bySection = Map.groupBy(lines, ({ section }) => section)
  return ({ section, order }) => {
    const found: Line[] = []
    const own = bySection.get(section)
    let indent = indentOf(own?.[order])
    for (let at = order - 1; own && at >= 0 && indent > 0; at--) {
      const line = own[at]
      if (line === undefined || indentOf(line) >= indent) continue
      indent = indentOf(line)
      found.push(line)
    }
    return found
  }
}

function indentOf(line: Line | undefined): number {
  return line?.text.search(/\S/) ?? 0
}

/** What a line of each section is worth beside the names in it: least where the facts beside it tell the same. */
const worths: Readonly<Record<number, number>> = { 1: 1.5, 2: 0.05, 3: 0.1, 4: 0.5, 5: 0.5, 7: 1.5, 8: 2, 9: 1.5 }

function proseLines({ sections }: MendedProse): readonly Line[] {
  return sections.flatMap(({ number, body }) =>
    proseBlocks(body).map(
      ({ text, isCode }, order): Line => ({
        section: `prose ${number}`,
        order,
        text,
        worth: (worths[number] ?? 1) * (isCode ? 0.5 : 1),
      }),
    ),
  )
}
