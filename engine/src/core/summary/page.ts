// The page that a summary is: nine sections in order, the facts beside a model's prose, the latest request last. Which
// lines stand in which section is a table; choosing them is the ledger's business.
import type { Choice } from '../ledger/choose.ts'
import { homeLines } from '../ledger/fill.ts'
import { sectionTitles } from '../ledger/render.ts'
import type { Line } from '../ledger/units.ts'
import { doubtsOpening, factsHeading, leftOut, nothing } from './marks.ts'
import { type SectionNumber, sectionHeading, sectionNumbers, type Variant } from './sections.ts'

/** Where chosen lines go: those of a section of the ledger, or of our own making, under a title. */
export type Slot = {
  readonly section: string
  readonly place: SectionNumber | 'facts'
  readonly title?: string
}

export type PageOptions = {
  readonly opening: readonly string[]
  readonly slots: readonly Slot[]
  /** Lines that are there in any case, by section. */
  readonly fixed: Readonly<Partial<Record<SectionNumber | 'facts', readonly string[]>>>
  /** Names that the source does not hold: told to be doubtful where they stand. */
  readonly doubtful?: readonly string[]
  /** The lines that a chosen line hangs under, without which it says nothing. */
  readonly above?: (line: ChosenLine) => readonly ChosenLine[]
  /** The sections of all lines that could have been chosen. */
  readonly offered?: ReadonlySet<string>
  readonly end: string
  readonly variant: Variant
}

export type ChosenLine = Pick<Line, 'section' | 'order' | 'text'>

export function pageOf(choice: Choice, page: PageOptions): string {
  const { opening, fixed, end, variant } = page
  const chosen = (place: SectionNumber | 'facts') =>
    page.slots.filter((slot) => slot.place === place).flatMap((slot) => slotLines(slot, choice, page))
  const parts = sectionNumbers.map((number) => {
    const lines = [...(fixed[number] ?? []), ...chosen(number)]
    return [sectionHeading(number, variant), ...(lines.length === 0 ? [emptyLine(number, page)] : lines)].join('\n')
  })
  const facts = [...doubtLine(page, parts), ...(fixed.facts ?? []), ...chosen('facts')]
  return [
    ...opening,
    ...parts,
    ...(facts.length === 0 ? [] : [[factsHeading, ...facts].join('\n')]),
    ...(end === '' ? [] : [end]),
  ].join('\n\n')
}

/** Nothing to say, and no room to say it, are two things. */
function emptyLine(number: SectionNumber, { slots, offered }: PageOptions): string {
  return slots.some(({ place, section }) => place === number && offered?.has(section)) ? leftOut : nothing
}

const mostDoubts = 16

function doubtLine({ doubtful = [] }: PageOptions, parts: readonly string[]): readonly string[] {
  if (doubtful.length === 0) return []
  const text = parts.join('\n')
  const named = doubtful.filter((name) => text.includes(name)).slice(0, mostDoubts)
  const marked = named.map((name) => `\`${name.replaceAll('`', "'")}\``)
  return named.length === 0 ? [] : [`${doubtsOpening} ${marked.join(', ')}`]
}

function slotLines({ section, title }: Slot, { lines, homes }: Choice, { above }: PageOptions): readonly string[] {
  const own = lines.filter((line) => line.section === section)
  const open = homes
    .filter((home) => home.section === section && (section === 'files' || home.names.length > 0))
    .map((home): ChosenLine => ({ section, order: home.order, text: homeLines(home) }))
  const found = [...(above === undefined ? own : withAbove(own, above)), ...open]
    .toSorted((a, b) => a.order - b.order)
    .map(({ text }) => text)
  return found.length === 0 || title === undefined ? found : [title, ...found]
}

function withAbove(lines: readonly ChosenLine[], above: NonNullable<PageOptions['above']>): readonly ChosenLine[] {
  return [...new Map(lines.flatMap((line) => [...above(line), line]).map((line) => [line.order, line])).values()]
}

/** A summary stays when the repository has gone on: there its state says what it is. */
export const ledgerTitles = { ...sectionTitles, repository: 'Repository, as outputs last showed it:' } as const
