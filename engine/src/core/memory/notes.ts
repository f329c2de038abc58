// The notes of session memory as sections: reading the file, changing single sections, merging with changes by a person,
// shortening for a summary. Text in, text out.

import { type NoteHead, noteHeads } from '../prompts/memory.ts'
import { markedHeadWithin } from '../text/cut.ts'

export type NoteSection = NoteHead & { readonly body: string }
export type Notes = readonly NoteSection[]

export const sectionLimit = 2_000
const totalLimit = 12_000

/** Reads `# Heading`, an italic line, and the text after it. Drops text before the first heading. */
export function parseNotes(text: string): Notes {
  const parts = text.replaceAll('\r\n', '\n').split(/^# /m).slice(1)
  return parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n')
    const first = lines.findIndex((line) => line.trim() !== '')
    const italic = /^_(.*)_$/.exec((lines[first] ?? '').trim())
    const body = italic ? lines.slice(first + 1) : lines
    return { heading: heading.trim(), hint: italic?.[1] ?? '', body: body.join('\n').trim() }
  })
}

export function renderNotes(notes: Notes): string {
  const sections = notes.map(({ heading, hint, body }) =>
    [`# ${heading}`, hint && `_${hint}_`, body].filter((part) => part !== '').join('\n'),
  )
  return `${sections.join('\n\n')}\n`
}

export function isEmpty(notes: Notes): boolean {
  return notes.every(({ body }) => body === '')
}

/** The sections of the template with the text of the notes. Sections that a person added stay at the end. */
export function withTemplate(notes: Notes, template: readonly NoteHead[] = noteHeads): Notes {
  const known = new Map(notes.map((section) => [section.heading, section]))
  const wanted = template.map((head) => ({ ...head, body: known.get(head.heading)?.body ?? '' }))
  return [...wanted, ...notes.filter(({ heading }) => !template.some((head) => head.heading === heading))]
}

export type Update = { readonly heading: string; readonly body: string }

/** Reads the sections of a model's answer. Models often repeat the heading; a line that looks like one would split a section. */
export function updatesIn(answer: string): readonly Update[] {
  const found = answer.matchAll(/<section name="([^"\n]+)">\n?([\s\S]*?)\n?<\/section>/g)
  return [...found].map(([, name = '', text = '']) => {
    const heading = name.trim()
    const [first = '', ...rest] = text.split('\n')
    const lines = first.trim() === `# ${heading}` ? rest : [first, ...rest]
    const body = lines.map((line) => (line.startsWith('# ') ? `#${line}` : line)).join('\n')
    return { heading, body: body.trim() }
  })
}

/** Changes only sections that the notes already have. */
export function updated(notes: Notes, updates: readonly Update[]): Notes {
  const bodies = new Map(updates.map(({ heading, body }) => [heading, body]))
  return notes.map((section) => ({ ...section, body: bodies.get(section.heading) ?? section.body }))
}

/**
 * Merges with a file that changed during our work. Of each section the changed version wins; if both changed it, theirs stays,
 * followed by our new lines.
 */
export function merged(base: Notes, theirs: Notes, ours: Notes): Notes {
  const bodyIn = (notes: Notes, heading: string) => notes.find((section) => section.heading === heading)?.body
  const headings = new Set(theirs.map(({ heading }) => heading))
  // A section that they removed stays removed, unless it is new.
  const added = ours.filter(({ heading }) => !headings.has(heading) && bodyIn(base, heading) === undefined)
  const kept = theirs.map((section) => {
    const before = bodyIn(base, section.heading) ?? ''
    const mine = bodyIn(ours, section.heading) ?? before
    if (section.body === before || section.body === mine) return { ...section, body: mine }
    if (mine === before) return section
    const known = new Set([...before.split('\n'), ...section.body.split('\n')])
    const fresh = mine.split('\n').filter((line) => !known.has(line))
    return { ...section, body: [section.body, ...fresh].join('\n').trim() }
  })
  return [...kept, ...added]
}

/** Sections above their limit, and the whole text if it is above its own. */
export function overLimit(notes: Notes, countTokens: (text: string) => number) {
  const total = countTokens(renderNotes(notes))
  const sizes = notes.map(({ heading, body }) => ({ heading, tokens: countTokens(body) }))
  const long = sizes.filter(({ tokens }) => tokens > sectionLimit)
  return { long, ...(total > totalLimit ? { total: { tokens: total, limit: totalLimit } } : {}) }
}

/** Cuts each section to its limit for a summary. Keeps headings and italic lines. */
export function cutNotes(
  notes: Notes,
  { countTokens, marker }: { readonly countTokens: (text: string) => number; readonly marker: string },
): Notes {
  const cut = (body: string) => markedHeadWithin(body, { tokens: sectionLimit, countTokens, marker })
  return notes.map((section) => ({ ...section, body: cut(section.body) }))
}
