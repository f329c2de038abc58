// The page that a summary is: nine sections in order, the facts beside a model's prose, the latest request last. Which
// lines stand in which section is a table; choosing them is the ledger's business.
import type { Choice } from '../ledger/choose.ts'
import { homeLines } from '../ledger/fill.ts'
import { factsHeading, nothing } from './marks.ts'
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
  readonly end: string
  readonly variant: Variant
}

export function pageOf(choice: Choice, { opening, slots, fixed, end, variant }: PageOptions): string {
  const chosen = (place: SectionNumber | 'facts') =>
    slots.filter((slot) => slot.place === place).flatMap((slot) => slotLines(slot, choice))
  const parts = sectionNumbers.map((number) => {
    const lines = [...(fixed[number] ?? []), ...chosen(number)]
    return [sectionHeading(number, variant), ...(lines.length === 0 ? [nothing] : lines)].join('\n')
  })
  const facts = [...(fixed.facts ?? []), ...chosen('facts')]
  return [
    ...opening,
    ...parts,
    ...(facts.length === 0 ? [] : [[factsHeading, ...facts].join('\n')]),
    ...(end === '' ? [] : [end]),
  ].join('\n\n')
}

function slotLines({ section, title }: Slot, { lines, homes }: Choice): readonly string[] {
  const found = [
    ...lines.filter((line) => line.section === section),
    ...homes.filter((home) => home.section === section && (section === 'files' || home.names.length > 0)),
  ]
    .toSorted((a, b) => a.order - b.order)
    .map((line) => (line.type === 'home' ? homeLines(line) : line.text))
  return found.length === 0 || title === undefined ? found : [title, ...found]
}

/** The ledger's sections under the titles they have wherever they stand. */
export const ledgerTitles = {
  todos: 'To-do list:',
  repository: 'Repository, as outputs last showed it:',
  verification: 'Commands that verify the work, latest outcome:',
  errors: 'Errors and what followed:',
  decisions: 'Decisions and findings, as stated:',
  files: 'Files, with the names that mattered in them:',
  commands: 'Other commands:',
  names: 'Other names:',
  urls: 'URLs:',
} as const
