// Shortens prose by dropping whole paragraphs and sentences from the middle. Cuts a sentence only if it is too long by itself.
import { clippedAtWord, headOf } from './cut.ts'

/** Marks a place where text was left out. */
export const gap = '[…]'

/** The whole text if it has at most `max` characters, otherwise its first and last paragraphs. */
export function condensed(text: string, max: number): string {
  const whole = text.trim()
  if (whole.length <= max) return whole
  const pieces = piecesOf(whole, max / 2)
  const fitting = take(pieces, max * 0.4)
  // The beginning always stays, because it says what the text is about.
  const [first = ''] = pieces
  const head = fitting.length > 0 || isBlock.test(first) ? fitting : [clippedAtWord(first, max * 0.4)]
  const tail = take(pieces.slice(head.length).toReversed(), max - length(head)).toReversed()
  if (fitting.length + tail.length === 0) return `${headOf(whole, max)} ${gap}`
  if (fitting.length + tail.length === pieces.length) return whole
  return [head.join('\n'), gap, tail.join('\n')].filter((part) => part !== '').join('\n')
}

/** A table or a fenced block: part of one is worthless. */
const isBlock = /^\s*(?:```|~~~|\|)/

export function withoutCode(text: string): string {
  let isFenced = false
  const lines = text.split('\n').filter((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    const isCode = isFenced || isFence
    if (isFence) isFenced = !isFenced
    return !isCode
  })
  return lines.join('\n')
}

const listMark = /^\s*(?:[-*+•]|\d+[.)])\s+/

/** The first sentences of prose that fit, without code, tables, headings, questions or lead-ins. */
export function gist(text: string, max: number): string {
  const kept: string[] = []
  let left = max
  for (const line of withoutCode(text).split('\n')) {
    if (/^\s*(?:\||#{1,6} |-{3,}|\*{3,}|$)|[:?](?:\*\*)?\s*$/.test(line)) continue
    const fitting = take(line.replace(listMark, '').split(sentenceEnd), left).join(' ')
    if (fitting !== '') kept.push(/[.!;。！]$/.test(fitting) ? fitting : `${fitting};`)
    left -= fitting.length + 1
    if (left < max / 2) break
  }
  return kept.length === 0 ? condensed(text, max) : kept.join(' ').replace(/;$/, '')
}

/**
 * A sentence does not end after the label of a list item (1. A.) or an abbreviation, nor before a remark in parentheses about it:
 * "All tests pass. (last seen: 3 failed)".
 */
export const sentenceEnd = /(?<=[.!?。！？])(?<!(?:^|[\s*_(])(?:\d{1,3}|[A-Za-z]|vs|e\.g|i\.e|cf|etc)\.)\s+(?![\s(])/m

/** Splits text into whole tables and fenced blocks, and single lines; a line longer than `maxLength` into sentences. */
function piecesOf(text: string, maxLength: number): readonly string[] {
  const pieces: string[] = []
  let block: 'table' | 'fence' | undefined
  for (const line of text.split('\n')) {
    if (line.trim() === '' && block !== 'fence') continue
    const isFence = /^\s*(?:```|~~~)/.test(line)
    const isRow = /^\s*\|/.test(line)
    if (block === 'fence' || (block === 'table' && isRow)) pieces.push(`${pieces.pop() ?? ''}\n${line}`)
    else if (isFence || isRow || line.length <= maxLength) pieces.push(line)
    else for (const sentence of line.split(sentenceEnd)) pieces.push(sentence)
    block = (block === 'fence') !== isFence ? 'fence' : isRow && block !== 'fence' ? 'table' : undefined
  }
  return pieces
}

/** The first pieces that fit. */
function take(pieces: readonly string[], max: number): readonly string[] {
  let left = max
  const end = pieces.findIndex((piece) => {
    left -= piece.length + 1
    return left < 0
  })
  return end < 0 ? pieces : pieces.slice(0, end)
}

function length(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length + 1, 0)
}
