// The nine sections of a summary: their titles, and finding them again in what a model wrote. Joining the sections gives
// the text back unchanged, so a heading that is not recognized costs nothing: its text stays where it was.
import { type SummaryVariant, sectionTitles } from '../../prompts/summary.ts'

export type SectionNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

export type Section = {
  /** Undefined for what comes before the first heading, or when no heading was recognized. */
  readonly number: SectionNumber | undefined
  /** The line of the heading as written; empty where there is none. */
  readonly heading: string
  readonly body: string
  /** No line follows the heading, not even an empty one. */
  readonly isBare?: true
}

/** Words that identify a title, whatever else it contains. */
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

type Candidate = { readonly line: number; readonly number: SectionNumber | undefined; readonly title: string }

/** A number and a title, or a title alone in the dress of a heading; anything may follow on the same line. */
const numbered = /^[ \t]{0,3}(?:#{1,6}[ \t]*)?(?:\*\*|__)?[ \t]*(\d)[.):][ \t]*(\S.*)$/
const dressed = /^[ \t]{0,3}(?:#{1,6}[ \t]+|\*\*|__)(\S.*)$/
const longestTitle = 100

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

/** Which of the nine a summary does not have. */
export function missingSections(sections: readonly Section[], variant: SummaryVariant): readonly string[] {
  const found = new Set(sections.map(({ number }) => number))
  return sectionTitles(variant).filter((_, index) => !found.has((index + 1) as SectionNumber))
}

function candidatesIn(lines: readonly string[]): readonly Candidate[] {
  const found: Candidate[] = []
  let isFenced = false
  for (const [line, text] of lines.entries()) {
    if (/^\s*(?:```|~~~)/.test(text)) isFenced = !isFenced
    if (isFenced || text.length > 2_000) continue
    const [, digit, rest] = numbered.exec(text) ?? []
    const title = rest ?? dressed.exec(text)?.[1]
    if (title === undefined) continue
    const number = digit === undefined || digit === '0' ? undefined : (Number(digit) as SectionNumber)
    found.push({ line, number, title: title.slice(0, longestTitle) })
  }
  return found
}

type Heading = { readonly line: number; readonly number: SectionNumber }

/** By their titles where they have the usual ones; else, for a translated summary, by their numbers alone. */
function headings(candidates: readonly Candidate[]): readonly Heading[] {
  const titled = rising(
    candidates.flatMap(({ line, number, title }) => {
      const byTitle = known.findIndex((words) => words.test(title)) + 1
      // A list inside a section is numbered too: a number must come with its own title.
      const is = number === undefined ? byTitle : known[number - 1]?.test(title) ? number : 0
      return is === 0 ? [] : [{ line, number: is as SectionNumber }]
    }),
  )
  if (titled.length >= 3) return titled
  const isTitleLike = ({ title }: Candidate) => title.length < longestTitle && /(?::|\*\*|__)[ \t]*$/.test(title)
  const counted = candidates.filter((candidate) => candidate.number !== undefined && isTitleLike(candidate))
  const inOrder = rising(counted.map(({ line, number }) => ({ line, number: number ?? 1 })))
  return inOrder.length === 9 ? inOrder : titled
}

/** Each number once, in rising order. */
function rising(found: readonly Heading[]): readonly Heading[] {
  const kept: Heading[] = []
  for (const heading of found) if (heading.number > (kept.at(-1)?.number ?? 0)) kept.push(heading)
  return kept
}
