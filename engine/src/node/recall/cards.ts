// Formats recall results: search cards and parts of texts, marked as data and never over the token limit.
import { createHash } from 'node:crypto'
import { recalledNotice } from '../../core/prompts/recall.ts'
import { clipped, headWithin } from '../../core/text/cut.ts'
import { wellFormed } from '../../core/text/well-formed.ts'
import type { Card, Reading } from '../archive/originals.ts'
import type { SearchResult } from '../archive/search.ts'
import type { ReadRequest } from './input.ts'

export type AnswerStyle = {
  readonly maxTokens: number
  readonly countTokens: (text: string) => number
  /** How to call the answering tool for a text. */
  readonly phraseRead: (id: string, from?: Readonly<Record<string, number>>) => string
}

/**
 * One line: id, time (in the form that `since` and `until` take), epoch, kind, tool and path. Text from transcripts
 * cannot start a new line.
 */
export function cardLine(card: Card): string {
  const when = card.time === undefined ? undefined : `${card.time.slice(0, 19)}Z`
  const call = [card.tool, card.path].filter((part) => part !== undefined).join(' ')
  const agent = card.sidechain ? 'sub-agent' : undefined
  const parts = [when, `epoch ${card.epoch}`, agent, card.kind, call === '' ? undefined : call]
  const shown = parts.filter((part) => part !== undefined).map((part) => oneLine(part, 160))
  return [oneLine(card.id, 1000), ...shown].join(' · ')
}

export function oneLine(text: string, most: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they could move the reader's cursor
  const flat = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return wellFormed(clipped(flat, most))
}

export function searchText(result: SearchResult, style: AnswerStyle): string {
  if (result.matches.length === 0) return 'Nothing found. Try fewer or other words, prefix*, or fewer filters.'
  const some = result.matched === 'any' ? 'No match for all words; these match some of them.\n' : ''
  const foot = (more: boolean) =>
    `Read one in full: ${style.phraseRead('ID')}${more ? '\nThere are more: narrow the search, or ask for more cards.' : ''}`
  const room = style.maxTokens - style.countTokens(marked('', `${some}${foot(true)}`))
  const cards = result.matches.map((match, at) => `${at + 1}. ${cardLine(match)}\n   ${oneLine(match.snippet, 300)}`)
  let fitting = cards.length
  while (fitting > 1 && style.countTokens(cards.slice(0, fitting).join('\n')) > room) fitting--
  const body = headWithin(cards.slice(0, fitting).join('\n'), { countTokens: style.countTokens, tokens: room })
  return some + marked(body, foot(result.more || fitting < cards.length))
}

export function readingText(reading: Reading, request: ReadRequest, style: AnswerStyle): string {
  const { id, text } = reading
  const lines = lineStarts(text)
  const start = Math.max(0, Math.min(text.length, request.fromCharacter ?? lines[request.fromLine - 1] ?? text.length))
  const end = Math.max(start, lines[request.toLine] ?? text.length)
  const head = reading.cards.slice(0, 5).map(cardLine).join('\n')
  const rangeOf = (stop: number) => {
    const last = lineAt(lines, Math.max(start, stop - 1))
    return `lines ${lineAt(lines, start)}-${last} of ${lines.length}, characters ${start}-${stop} of ${text.length}`
  }
  const frame = marked(`${head}\n${rangeOf(text.length)}\n\n`, readOn(style, id, { character: text.length, line: 0 }))
  const room = style.maxTokens - style.countTokens(frame)
  const shown = headWithin(text.slice(start, end), { countTokens: style.countTokens, tokens: room })
  const stop = start + shown.length
  const next = { character: stop, line: lines.indexOf(stop) + 1 }
  const foot = stop < text.length ? readOn(style, id, next) : 'End of text.'
  return marked(`${head}\n${rangeOf(stop)}\n\n${wellFormed(shown)}`, foot)
}

/** By line number at the start of a line, else by character. */
function readOn(style: AnswerStyle, id: string, next: { readonly character: number; readonly line: number }): string {
  return `Read on: ${style.phraseRead(id, next.line > 0 ? { from_line: next.line } : { from_character: next.character })}`
}

/** A trailing newline starts no line. */
function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1))
    starts.push(at + 1)
  return starts
}

function lineAt(starts: readonly number[], character: number): number {
  return Math.max(1, starts.findLastIndex((start) => start <= character) + 1)
}

/** The tags carry a hash of the text between them, so that no text can contain its own closing tag. */
function marked(body: string, foot: string): string {
  const mark = `recalled-${createHash('sha256').update(body).digest('hex').slice(0, 12)}`
  return `${recalledNotice}\n<${mark}>\n${body}\n</${mark}>\n${foot}`
}
