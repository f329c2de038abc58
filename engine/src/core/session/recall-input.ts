// Parses what a model or a person asks of recall. Known fields must have the right type; others are ignored.
import { defined, isObject, type JsonObject, numberAt, stringAt } from '../message/json.ts'
import { pointedId } from '../prompts/recall.ts'
import { type TextKind, textKinds } from '../transcript/format/record-texts.ts'
import { defaultRecallLimit } from './recall.ts'

export type SearchQuery = {
  /**
   * A question in its own words, or words, "phrases", prefix*, paths, identifiers. Matches have the phrases and prefixes
   * if any text has them; what has all the words comes first.
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
