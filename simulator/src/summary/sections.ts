// The nine sections of a summary: their titles, and writing and reading the facts in them.
import { sectionTitles as titlesOf } from 'everlong/internal/compaction'

export const sectionTitles = titlesOf()

export type Section = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

/** One line of a summary, or several where a user's message has several. */
export type Fact = {
  readonly section: Section
  readonly text: string
  /** If not all facts fit, those with the smallest weight are written first. */
  readonly weight: number
}

/** Facts in the order given, each section with a heading; an empty one says "None". */
export function renderSections(facts: readonly Fact[]): string {
  return sectionTitles
    .map((title, index) => {
      const own = facts.filter((fact) => fact.section === index + 1).map((fact) => `- ${fact.text}`)
      return [`${index + 1}. ${title}:`, ...(own.length > 0 ? own : ['None'])].join('\n')
    })
    .join('\n\n')
}

export function looksLikeSummary(text: string): boolean {
  return readSections(text).length > 0 && /^.*9\. Optional next step/im.test(text)
}

/** Reads an earlier summary, so that summaries chain. A message with a list becomes several facts, which are written unchanged. */
export function readSections(text: string): readonly { readonly section: Section; readonly text: string }[] {
  const found: { section: Section; text: string }[] = []
  let section: Section | undefined
  for (const line of text.split('\n')) {
    const heading = headingOf(line)
    if (heading) section = heading
    else if (/^<\/summary>/.test(line)) section = undefined
    else if (section && line.startsWith('- ')) found.push({ section, text: line.slice(2) })
    else if (section && found.at(-1)?.section === section) {
      const last = found.pop()
      if (last) found.push({ section, text: `${last.text}\n${line}` })
    }
  }
  return found.map((fact) => ({ section: fact.section, text: fact.text.trimEnd() }))
}

function headingOf(line: string): Section | undefined {
  const found = /^[\s#*]*(\d)\. ([^:*]+)/.exec(line)
  const index = sectionTitles.findIndex((title) => title.toLowerCase() === found?.[2]?.trim().toLowerCase())
  return index >= 0 && String(index + 1) === found?.[1] ? sections[index] : undefined
}

const sections: readonly Section[] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
