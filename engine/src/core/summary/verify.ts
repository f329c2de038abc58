// A model's summary held against its source: quotations and approvals nobody gave taken out, names found nowhere told,
// sections put in order. What it says otherwise is left as the model wrote it.
import type { Line } from '../ledger/units.ts'
import { blocksOf, isToolResult, isToolUse } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { proseBlocks } from './blocks.ts'
import type { Frame } from './frame.ts'
import { type HumanMessage, humanMessages, typedText } from './human.ts'
import { proseSlots } from './offline.ts'
import type { ChosenLine, PageOptions } from './page.ts'
import { mendQuotes } from './quotes.ts'
import { readSections, type Section, sectionTitle, type Variant } from './sections.ts'
import type { SummarySource } from './source.ts'
import { ledgerText, sourceText, unsupportedIn } from './support.ts'

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
  ].join('\n')
  const { preamble, sections } = readSections(prose)
  const hasNone = sections.every(({ isMissing }) => isMissing)
  const bodies = sections.map((section): Section => {
    if (section.number === 6) return { ...section, body: '' }
    // An answer without sections is taken whole.
    return hasNone && section.number === 1 ? { ...section, body: preamble } : section
  })
  const agreed = hasAgreed(all)
  const mended = bodies.map((section) => ({ section, ...mendQuotes(section.body, { human, agreed }) }))
  const text = mended.map((part) => part.text).join('\n')
  const short = (quotes: readonly string[]) => quotes.map((quote) => quote.slice(0, longestQuote))
  return {
    sections: mended.map(({ section, text: body }) => ({ ...section, body })),
    falseQuotes: short(mended.flatMap((part) => part.falseQuotes)),
    inferredApprovals: short(mended.flatMap((part) => part.inferredApprovals)),
    unsupported: unsupportedIn(text, `${sourceText(all)}\n${ledgerText(source.ledger)}`),
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

/** Every line of the prose in its place, but for those that only name a file: the facts tell more of it. */
export function wholeProsePage(frame: Frame, mended: MendedProse, variant: Variant): PageOptions {
  const page = pageFrame(frame, { mended, variant })
  const bodies = Object.fromEntries(
    mended.sections
      .map(({ number, body }) => [number, withoutBareFiles(body)] as const)
      .filter(([, body]) => body.trim() !== '')
      .map(([number, body]) => [number, [body]]),
  )
  return { ...page, fixed: { ...bodies, 6: frame.said, facts: factLines(frame) } }
}

/** `- src/a.ts (read)`: a path, and nothing said about it but what was done. */
const bareFile = /^\s*[-*]\s+[`*]*(?:[\w@.~-]*\/)+[\w@.-]+[`*]*(?:\s*\(\w+\))?\s*$/

function withoutBareFiles(body: string): string {
  const lines = body.split('\n')
  const isBare = (line: string, next: string | undefined) =>
    bareFile.test(line) && (next === undefined || next.trim() === '' || next.search(/\S/) <= line.search(/\S/))
  return lines.filter((line, at) => !isBare(line, lines[at + 1])).join('\n')
}

/** The frame alone: the lines of the prose are chosen with those of the facts. */
export function prosePage(frame: Frame, mended: MendedProse, variant: Variant): PageOptions {
  const page = pageFrame(frame, { mended, variant })
  return { ...page, fixed: { ...page.fixed, facts: factLines(frame) }, above: linesAbove(proseLines(mended)) }
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
const worths: Readonly<Record<number, number>> = { 1: 0.8, 2: 0.1, 3: 0.2, 4: 0.5, 5: 0.5, 7: 1, 8: 1.2, 9: 1 }

export function proseLines({ sections }: MendedProse): readonly Line[] {
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
