// The notes of session memory as sections: read from the file, changed section by section, merged with what a person
// changed meanwhile, cut for a summary. Text in, text out; the file itself is somebody else's.
import { type NoteHead, noteHeads } from '../prompts/memory.ts'

export type NoteSection = NoteHead & { readonly body: string }
export type Notes = readonly NoteSection[]

export const sectionLimit = 2_000
export const totalLimit = 12_000

/** Reads `# Heading`, an italic line, and what follows. What stands before the first heading belongs to nothing and goes. */
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
  return notes
    .map(({ heading, hint, body }) =>
      [`# ${heading}`, ...(hint ? [`_${hint}_`] : []), ...(body ? [body] : [])].join('\n'),
    )
    .join('\n\n')
    .concat('\n')
}

/** Nothing has been noted yet. */
export function isEmpty(notes: Notes): boolean {
  return notes.every(({ body }) => body === '')
}

/** The template's sections, filled with what the notes hold; sections a person added stay at the end. */
export function withTemplate(notes: Notes, template: readonly NoteHead[] = noteHeads): Notes {
  const known = new Map(notes.map((section) => [section.heading, section]))
  const wanted = template.map((head) => ({ ...head, body: known.get(head.heading)?.body ?? '' }))
  const own = notes.filter(({ heading }) => !template.some((head) => head.heading === heading))
  return [...wanted, ...own]
}

export type Update = { readonly heading: string; readonly body: string }

/** The sections in a model's answer. */
export function updatesIn(answer: string): readonly Update[] {
  return [...answer.matchAll(/<section name="([^"\n]+)">\n?([\s\S]*?)\n?<\/section>/g)].map(([, heading, body]) => ({
    heading: (heading ?? '').trim(),
    body: bodyOnly(body ?? '', (heading ?? '').trim()),
  }))
}

/** Models like to repeat the heading; and a line that starts like one would tear the file apart. */
function bodyOnly(text: string, heading: string): string {
  const lines = text.split('\n')
  const start = lines[0]?.trim() === `# ${heading}` ? 1 : 0
  return lines
    .slice(start)
    .map((line) => (line.startsWith('# ') ? `#${line}` : line))
    .join('\n')
    .trim()
}

/** Only sections that the notes have are changed. */
export function updated(notes: Notes, updates: readonly Update[]): Notes {
  const bodies = new Map(updates.map(({ heading, body }) => [heading, body]))
  return notes.map((section) => ({ ...section, body: bodies.get(section.heading) ?? section.body }))
}

/**
 * Somebody changed the file while we worked on it: of each section the version that changed wins; where both did, theirs
 * stays and what is new in ours stands behind it.
 */
export function merged(base: Notes, theirs: Notes, ours: Notes): Notes {
  const bodyIn = (notes: Notes, heading: string) => notes.find((section) => section.heading === heading)?.body
  const headings = new Set(theirs.map(({ heading }) => heading))
  // A section they took out stays out, unless it was not there when we began.
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

/** Sections over their limit, and the whole if it is over its own. */
export function overLimit(notes: Notes, countTokens: (text: string) => number) {
  const total = countTokens(renderNotes(notes))
  return {
    long: notes
      .map(({ heading, body }) => ({ heading, tokens: countTokens(body) }))
      .filter(({ tokens }) => tokens > sectionLimit),
    ...(total > totalLimit ? { total: { tokens: total, limit: totalLimit } } : {}),
  }
}

/** For a summary: each section cut to its limit, heading and italic line kept. */
export function cutNotes(
  notes: Notes,
  { countTokens, marker }: { readonly countTokens: (text: string) => number; readonly marker: string },
): Notes {
  return notes.map((section) => {
    if (countTokens(section.body) <= sectionLimit) return section
    const lines = section.body.split('\n')
    let fits = 0
    let tooMany = lines.length
    const cut = (count: number) => [...lines.slice(0, count), marker].join('\n')
    while (tooMany - fits > 1) {
      const middle = (fits + tooMany) >>> 1
      if (countTokens(cut(middle)) <= sectionLimit) fits = middle
      else tooMany = middle
    }
    // One line longer than the limit is cut by its characters.
    const body = fits > 0 ? cut(fits) : `${section.body.slice(0, sectionLimit * 2)}\n${marker}`
    return { ...section, body }
  })
}
