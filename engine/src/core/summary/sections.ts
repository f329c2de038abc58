// The nine sections of a summary: their titles, and finding them again in what a model wrote. It judges no content.
import { type SummaryVariant, sectionTitles } from '../prompts/summary.ts'

/** Which part of the conversation is summarised. */
export type Variant = SummaryVariant

export const sectionNumbers = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const
export type SectionNumber = (typeof sectionNumbers)[number]

export function sectionTitle(number: SectionNumber, variant: Variant = 'full'): string {
  return sectionTitles(variant)[number - 1] ?? ''
}

export function sectionHeading(number: SectionNumber, variant: Variant = 'full'): string {
  return `## ${number}. ${sectionTitle(number, variant)}`
}

/** What models write for a section that holds nothing. */
const nothing =
  /^\W*(?:none|nothing|left out for room|n\/a|not applicable|no (?:errors|pending tasks|\w+ (?:yet|so far)))\b[\s\S]{0,40}$/i

export type Section = {
  readonly number: SectionNumber
  /** Without its heading; empty when the section is missing or says that there is nothing. */
  readonly body: string
  readonly isMissing: boolean
}

export type Sections = {
  /** What stands before the first heading. */
  readonly preamble: string
  readonly sections: readonly Section[]
}

const heading = /^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?[ \t]*(\d)[.):][ \t]*(?:\*\*|__)?[ \t]*(.{3,80}?)[ \t]*$/

/** Words by which a title is known, whatever else stands in it. */
const known: readonly RegExp[] = [
  /primary request|intent/i,
  /technical concepts|concepts/i,
  /files|code sections/i,
  /errors/i,
  /problem.solving/i,
  /user messages|all user/i,
  /pending|tasks/i,
  /current work|work completed/i,
  /next step|continuing work/i,
]

type Found = { readonly number: SectionNumber; readonly line: number; readonly rest: string }

/**
 * Numbered headings in whatever dress, in rising order. A number alone makes no heading: lists inside a section are
 * numbered too, so the title must be the one that belongs to the number.
 */
export function readSections(text: string): Sections {
  const lines = text.split('\n')
  const found: Found[] = []
  let isFenced = false
  for (const [line, words] of lines.entries()) {
    if (/^\s*(?:```|~~~)/.test(words)) isFenced = !isFenced
    const next = isFenced ? undefined : headingIn(words, found.at(-1)?.number ?? 0)
    if (next) found.push({ ...next, line })
  }
  const bodyOf = (index: number): string => {
    const start = found[index]
    if (!start) return ''
    const body = lines.slice(start.line + 1, found[index + 1]?.line ?? lines.length).join('\n')
    return dedented(`${start.rest}\n${body}`)
  }
  return {
    preamble: lines
      .slice(0, found[0]?.line ?? lines.length)
      .join('\n')
      .trim(),
    sections: sectionNumbers.map((number) => {
      const index = found.findIndex((section) => section.number === number)
      const body = bodyOf(index)
      return { number, body: nothing.test(body) ? '' : body, isMissing: index < 0 }
    }),
  }
}

/** Without blank lines around it, and without the indent that all its lines share. */
function dedented(text: string): string {
  const lines = text.replace(/^(?:[ \t]*\n)+|\s+$/g, '').split('\n')
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const shared = indents.length === 0 ? 0 : Math.min(...indents)
  return lines.map((line) => line.slice(shared)).join('\n')
}

function headingIn(line: string, last: number): Omit<Found, 'line'> | undefined {
  const [, digit, words = ''] = heading.exec(line) ?? []
  const number = sectionNumbers.find((candidate) => String(candidate) === digit)
  if (number === undefined || number <= last || !known[number - 1]?.test(words)) return undefined
  // "1. **Primary request**: the rest of the line is its body".
  const [, rest = ''] = /^[^:]{3,60}?:(?:\*\*|__)?[ \t]*(.*)$/.exec(words) ?? []
  return { number, rest: rest.replace(/^(?:\*\*|__)/, '').trim() }
}
