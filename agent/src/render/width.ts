// How many columns a text takes in a terminal, and cutting and padding by that measure.
import { stripVTControlCharacters } from 'node:util'

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const noWidth = /^[\p{Mark}\u200c\u200d]$/u
const ascii = /^[\u0020-\u007e]*$/
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The characters as a person sees them: a letter with its marks, an emoji of several code points. */
export function charactersOf(text: string): readonly string[] {
  return ascii.test(text) ? [...text] : Array.from(segmenter.segment(text), ({ segment }) => segment)
}

export function columnsOf(text: string): number {
  if (ascii.test(text)) return text.length
  return charactersOf(text).reduce((columns, character) => columns + widthOf(character), 0)
}

function widthOf(character: string): number {
  const [base] = [...character]
  if (base === undefined || noWidth.test(base)) return 0
  return wide.test(base) || character.includes('\ufe0f') || /^\p{Regional_Indicator}{2}$/u.test(character) ? 2 : 1
}

/** Cut to a number of columns; the last one is an ellipsis if something was cut off. */
export function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  let used = 0
  for (const character of charactersOf(text)) {
    used += widthOf(character)
    if (used > columns - 1) break
    kept += character
  }
  return columns > 0 ? `${kept.trimEnd()}…` : ''
}

/** Cuts at the start, for paths, whose end is the most informative. */
export function cutStart(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  let used = 0
  for (const character of charactersOf(text).toReversed()) {
    used += widthOf(character)
    if (used > columns - 1) break
    kept = character + kept
  }
  return `…${kept}`
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - columnsOf(text))) + text
}

/** Breaks a text between words into lines that fit a number of columns. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && columnsOf(longer) > columns) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return line === '' ? lines : [...lines, line]
}

/** Breaks a finished line, colors and all, between words; the next line is indented a little more. */
export function fold(line: string, columns: number): readonly string[] {
  if (columnsOf(stripVTControlCharacters(line)) <= columns) return [line]
  const [indent = ''] = /^ */.exec(stripVTControlCharacters(line)) ?? []
  const further = `${indent}  `.slice(0, Math.floor(columns / 2))
  const lines: string[] = []
  let current = ''
  let used = 0
  for (const piece of line.match(/ +|[^ ]+/g) ?? []) {
    const width = columnsOf(stripVTControlCharacters(piece))
    const isSpace = piece.startsWith(' ')
    if (used + width > columns && used > further.length) {
      lines.push(current.trimEnd())
      current = isSpace ? further : further + piece
      used = further.length + (isSpace ? 0 : width)
    } else {
      current += piece
      used += width
    }
  }
  return current.trim() === '' ? lines : [...lines, current]
}
