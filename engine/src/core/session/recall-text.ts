// Parses a recall request of a model or a person (unknown fields are ignored), and formats the answers: search cards and parts of
// texts, marked as data and within the token limit.

import { defined, isObject, type JsonObject, numberAt, stringAt } from '../message/json.ts'
import { defaultRecallLimit } from '../ports/session-store.ts'
import { pointedId, recalledNotice } from '../prompts/recall.ts'
import { clipped, headWithin, wellFormed } from '../text/cut.ts'
import { hashText } from '../text/hash.ts'
import { type TextKind, textKinds } from '../transcript/format/record-texts.ts'

/** The facts about a text in a search result. An archive has all of them; a session only the kind and the time. */
export type RecallCard = {
  readonly id: string
  readonly kind?: string
  readonly time?: string | undefined
  readonly epoch?: number
  readonly tool?: string | undefined
  readonly path?: string | undefined
  /** Set for a call: the id of its result. */
  readonly toolUseId?: string | undefined
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
 * One line: id, time (in the form that `since` and `until` take), epoch, kind, tool and path, and for a call the id of its
 * result. Text from transcripts cannot start a new line.
 */
export function cardLine(card: RecallCard): string {
  const when = card.time === undefined ? undefined : `${card.time.slice(0, 19)}Z`
  const call = [card.tool, card.path].filter((part) => part !== undefined).join(' ')
  const agent = card.sidechain ? 'sub-agent' : undefined
  const epoch = card.epoch === undefined ? undefined : `epoch ${card.epoch}`
  const result = card.kind === 'tool-use' && card.toolUseId !== undefined ? `result: ${card.toolUseId}` : undefined
  const parts = [when, epoch, agent, card.kind, call === '' ? undefined : call, result]
  const shown = parts.filter((part) => part !== undefined).map((part) => oneLine(part, 160))
  return [oneLine(card.id, 1000), ...shown].join(' · ')
}

export function oneLine(text: string, max: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they could move the reader's cursor
  const flat = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return wellFormed(clipped(flat, max))
}

/** Tokens by which an answer can exceed the sum of its text and frame: the two tags have other digits, and adjacent words merge. */
const spare = 20

/** In characters: enough for a call and its result. */
const maxSnippet = 500

export function searchText(result: RecallFound, style: AnswerStyle): string {
  if (result.matches.length === 0) return 'Nothing found. Try fewer or other words, prefix*, or fewer filters.'
  const some = result.matched === 'any' ? 'No match for all words; these match some of them.\n' : ''
  const foot = (more: boolean) =>
    `Read one in full: ${style.phraseRead('ID')}${more ? '\nThere are more: narrow the search, or ask for more cards.' : ''}`
  const room = style.maxTokens - spare - style.countTokens(marked('', `${some}${foot(true)}`))
  const cards = result.matches.map(
    (match, at) => `${at + 1}. ${cardLine(match)}\n   ${oneLine(match.snippet, maxSnippet)}`,
  )
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

export type SearchQuery = {
  /**
   * A natural question, or words, "phrases", prefix*, paths, identifiers. If any text has the phrases and prefixes, all matches
   * must; texts with all words come first.
   */
  readonly words?: string
  readonly kinds?: readonly TextKind[]
  readonly role?: 'user' | 'assistant'
  /** Case-insensitive; for an MCP tool the last part is enough. */
  readonly tool?: string
  /** A file or folder named by a call: the whole path or some consecutive parts; `*` matches within a part. */
  readonly path?: string
  readonly epoch?: number
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number
  readonly until?: number
  /** Default: best first with words, else newest first. */
  readonly order?: 'best' | 'newest'
  /** Default 10, at most 100. */
  readonly limit?: number
}

export type ReadRequest = {
  readonly id: string
  /** Counted from 1, inclusive. */
  readonly fromLine: number
  readonly toLine: number
  /** Counted from 0; to continue within a line. */
  readonly fromCharacter: number | undefined
}

export type Refused = { readonly type: 'refused'; readonly reason: string }
export type SearchRequest = { readonly type: 'search'; readonly query: SearchQuery }
export type RecallRequest = SearchRequest | { readonly type: 'read'; readonly read: ReadRequest } | Refused

const text = (description: string) => ({ type: 'string', description })
const whole = (description: string) => ({ type: 'integer', description })

export const searchProperties = {
  query: text(
    'A question in its own words, or words to search for. An "exact phrase" or prefix* must occur; paths and identifiers work. Without it, the newest are listed.',
  ),
  kind: { type: 'string', enum: [...textKinds], description: 'Only this kind of text.' },
  role: { type: 'string', enum: ['user', 'assistant'], description: 'Only what one side said.' },
  tool: text('Only calls of this tool and their results, such as Read or Bash.'),
  path: text('Only calls that name this file or folder: a whole path or its last parts; * within a part.'),
  epoch: whole('Only this epoch: 0 is before the first compaction.'),
  since: text('Only from this time on (ISO 8601).'),
  until: text('Only up to this time (ISO 8601).'),
  order: { type: 'string', enum: ['best', 'newest'], description: 'Which come first.' },
  limit: whole(`Maximum number of cards: default ${defaultRecallLimit}, at most 100.`),
} as const

export const readProperties = {
  from_line: whole('First line to read, counted from 1.'),
  to_line: whole('Last line to read.'),
  from_character: whole('First character to read, counted from 0; to continue within a long line.'),
} as const

/** `read` asks for a text; anything else is a search. */
export function parseRecall(input: unknown): RecallRequest {
  return isObject(input) && input.read !== undefined ? parseRead(input, 'read') : parseSearch(input)
}

export function parseSearch(input: unknown): SearchRequest | Refused {
  if (!isObject(input)) return refused('The input must be an object.')
  const problem = wrongType(input, searchProperties)
  if (problem !== undefined) return refused(problem)
  const [since, until] = [timeOf(input.since, 'start'), timeOf(input.until, 'end')]
  if (Number.isNaN(since) || Number.isNaN(until))
    return refused('"since" and "until" must be times, such as 2026-03-02.')
  const kind = oneOf(textKinds, input.kind)
  const wanted = {
    words: stringAt(input, 'query'),
    kinds: kind && [kind],
    role: oneOf(['user', 'assistant'] as const, input.role),
    tool: stringAt(input, 'tool'),
    path: stringAt(input, 'path'),
    epoch: numberAt(input, 'epoch'),
    since,
    until,
    order: oneOf(['best', 'newest'] as const, input.order),
    limit: numberAt(input, 'limit'),
  }
  return { type: 'search', query: defined(wanted) }
}

export function parseRead(input: unknown, key: 'read' | 'id'): Extract<RecallRequest, { type: 'read' }> | Refused {
  if (!isObject(input) || typeof input[key] !== 'string')
    return refused(`"${key}" must be the id of a card or a pointer.`)
  const problem = wrongType(input, readProperties)
  if (problem !== undefined) return refused(problem)
  const id = pointedId(input[key]) ?? input[key].trim()
  const fromLine = Math.max(1, numberAt(input, 'from_line') ?? 1)
  const toLine = numberAt(input, 'to_line') ?? Number.POSITIVE_INFINITY
  return { type: 'read', read: { id, fromLine, toLine, fromCharacter: numberAt(input, 'from_character') } }
}

function refused(reason: string): Refused {
  return { type: 'refused', reason }
}

type Property = { readonly type: string; readonly enum?: readonly string[] }

function wrongType(input: JsonObject, properties: Readonly<Record<string, Property>>): string | undefined {
  for (const [key, { type, enum: allowed }] of Object.entries(properties)) {
    const value = input[key]
    if (value === undefined || value === null) continue
    if (type === 'integer' && !Number.isSafeInteger(value)) return `"${key}" must be a whole number.`
    if (type === 'string' && typeof value !== 'string') return `"${key}" must be a string.`
    if (allowed && !allowed.includes(String(value))) return `"${key}" must be one of ${allowed.join(', ')}.`
  }
  return undefined
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((one) => one === value)
}

/** A date without a time means the whole day. */
function timeOf(value: unknown, edge: 'start' | 'end'): number | undefined {
  if (typeof value !== 'string') return undefined
  const time = Date.parse(value)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value.trim())
  return isDay && edge === 'end' ? time + 24 * 3600 * 1000 - 1 : time
}
