// Formats recall results: search cards and parts of texts, marked as data and never over the token limit.
import { recalledNotice } from '../prompts/recall.ts'
import { clipped, headWithin, wellFormed } from '../text/cut.ts'
import { hashText } from '../text/hash.ts'
import type { ReadRequest } from './recall-input.ts'

/** What a search knows about a text. An archive knows everything; a session only what it is and when it was said. */
export type RecallCard = {
  readonly id: string
  readonly kind?: string
  readonly time?: string | undefined
  readonly epoch?: number
  readonly tool?: string | undefined
  readonly path?: string | undefined
  /** Said by a sub-agent. */
  readonly sidechain?: boolean
}

export type RecallFound = {
  readonly matches: readonly (RecallCard & { readonly snippet: string })[]
  readonly more: boolean
  /** `any` if no text has all words. */
  readonly matched?: 'all' | 'any' | 'none'
}

export type RecalledText = { readonly id: string; readonly text: string; readonly cards: readonly RecallCard[] }

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
export function cardLine(card: RecallCard): string {
  const when = card.time === undefined ? undefined : `${card.time.slice(0, 19)}Z`
  const call = [card.tool, card.path].filter((part) => part !== undefined).join(' ')
  const agent = card.sidechain ? 'sub-agent' : undefined
  const epoch = card.epoch === undefined ? undefined : `epoch ${card.epoch}`
  const parts = [when, epoch, agent, card.kind, call === '' ? undefined : call]
  const shown = parts.filter((part) => part !== undefined).map((part) => oneLine(part, 160))
  return [oneLine(card.id, 1000), ...shown].join(' · ')
}

export function oneLine(text: string, most: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they could move the reader's cursor
  const flat = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return wellFormed(clipped(flat, most))
}

/** Tokens by which an answer can exceed the sum of its text and frame: the two tags have other digits, and words meet. */
const spare = 20

export function searchText(result: RecallFound, style: AnswerStyle): string {
  if (result.matches.length === 0) return 'Nothing found. Try fewer or other words, prefix*, or fewer filters.'
  const some = result.matched === 'any' ? 'No match for all words; these match some of them.\n' : ''
  const foot = (more: boolean) =>
    `Read one in full: ${style.phraseRead('ID')}${more ? '\nThere are more: narrow the search, or ask for more cards.' : ''}`
  const room = style.maxTokens - spare - style.countTokens(marked('', `${some}${foot(true)}`))
  const cards = result.matches.map((match, at) => `${at + 1}. ${cardLine(match)}\n   ${oneLine(match.snippet, 300)}`)
  let fitting = cards.length
  while (fitting > 1 && style.countTokens(cards.slice(0, fitting).join('\n')) > room) fitting--
  const body = headWithin(cards.slice(0, fitting).join('\n'), { countTokens: style.countTokens, tokens: room })
  return some + marked(body, foot(result.more || fitting < cards.length))
}

export function readingText(reading: RecalledText, request: ReadRequest, style: AnswerStyle): string {
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
  const room = style.maxTokens - spare - style.countTokens(frame)
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

/** The same text has the same tags, and no text contains its own. */
function marked(body: string, foot: string): string {
  const markOf = (number: number) => `recalled-${number.toString(16).padStart(12, '0').slice(-12)}`
  let hash = hashText(body)
  while (body.includes(markOf(hash))) hash++
  const mark = markOf(hash)
  return `${recalledNotice}\n<${mark}>\n${body}\n</${mark}>\n${foot}`
}
