// Text with styles, broken into lines: every line opens and closes its own colors, so that lines can be cut apart.
import { stripVTControlCharacters } from 'node:util'
import type { Sheet, Style } from './sheet.ts'
import { charactersOf, columnsOf } from './width.ts'

export type Span = { readonly text: string; readonly style?: Style }

/** May have colors. */
export type Indent = { readonly first: string; readonly rest: string }

const none: Indent = { first: '', rest: '' }

/** Breaks between words, and inside a word that is longer than a line. Line breaks in the text stay. */
export function wrapSpans(spans: readonly Span[], sheet: Sheet, { first, rest }: Indent = none): readonly string[] {
  const lines: Span[][] = [[]]
  let used = columnsOf(stripVTControlCharacters(first))
  const least = columnsOf(stripVTControlCharacters(rest))
  const newLine = () => {
    lines.push([])
    used = least
  }
  const put = (text: string, style: Style | undefined) => {
    lines.at(-1)?.push(style === undefined ? { text } : { text, style })
    used += columnsOf(text)
  }
  for (const { text, style } of piecesOf(spans)) {
    const columns = columnsOf(text)
    if (text === '\n') newLine()
    else if (used + columns <= sheet.width) put(text, style)
    else if (text.trim() === '') newLine()
    else {
      if (used > least) newLine()
      for (const part of partsOf(text, Math.max(1, sheet.width - least))) {
        if (used > least) newLine()
        put(part, style)
      }
    }
  }
  return lines.map((line, at) => (at === 0 ? first : rest) + paintLine(line, sheet))
}

/** Breaks plain text the same way. */
export function wrapText(text: string, width: number, indent: Indent = none): readonly string[] {
  return wrapSpans([{ text }], { width, paint: (_, plain) => plain }, indent)
}

/** Words, spaces and line breaks, one by one. */
function piecesOf(spans: readonly Span[]): readonly Span[] {
  return spans.flatMap((span) => (span.text.match(/\n|[^\S\n]+|\S+/g) ?? []).map((text) => ({ ...span, text })))
}

/** Splits a word that is too long into parts that fit. */
function partsOf(word: string, width: number): readonly string[] {
  const parts: string[] = []
  let part = ''
  for (const character of charactersOf(word)) {
    if (part !== '' && columnsOf(part + character) > width) {
      parts.push(part)
      part = ''
    }
    part += character
  }
  return [...parts, part]
}

function paintLine(spans: readonly Span[], { paint }: Sheet): string {
  const end = spans.findLastIndex(({ text }) => text.trim() !== '') + 1
  return merged(spans.slice(0, end))
    .map(({ text, style }) => (style === undefined ? text : paint(style, text)))
    .join('')
}

/** Neighbors of the same style become one, so that each style is opened once. */
function merged(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = []
  for (const span of spans) {
    const last = all.at(-1)
    if (last && last.style === span.style) all[all.length - 1] = { ...last, text: last.text + span.text }
    else all.push(span)
  }
  return all
}
