// Turns one line of a transcript into its records, whatever the line holds. A bad line never costs a good record:
// two objects on one line, an object cut by a crash and continued by another, NUL runs, a BOM. Never throws.
import { type JsonObject, parseObject } from '../../message/json.ts'

export type TextRange = { readonly start: number; readonly end: number }

export type DecodedLine = {
  readonly records: readonly JsonObject[]
  /** The range of each record in the line; empty if the line is a single record. */
  readonly stretches: readonly TextRange[]
  /** Number of records that do not start at the beginning of the line. A reader of one record per line would miss them. */
  readonly salvaged: number
  readonly lost: readonly TextRange[]
}

/** Max restarts in one line; the rest of the line is then dropped. This keeps the time for hostile lines linear. */
const maxStarts = 200

const nothing: DecodedLine = { records: [], stretches: [], salvaged: 0, lost: [] }

export function decodeLine(text: string): DecodedLine {
  const whole = parseObject(text)
  if (whole) return { records: [whole], stretches: [], salvaged: 0, lost: [] }
  return isBlank(text) ? nothing : salvage(text)
}

function salvage(text: string): DecodedLine {
  const records: JsonObject[] = []
  const stretches: TextRange[] = []
  const lost: TextRange[] = []
  const lose = (start: number, end: number) => {
    if (end <= start || isBlank(text.slice(start, end))) return
    const isNext = lost.at(-1)?.end === start
    lost.push({ start: isNext ? (lost.pop()?.start ?? start) : start, end })
  }
  let salvaged = 0
  // After a cut, an object may be part of the record that was cut, so it must look like a record to count.
  let isAfterCut = false
  let from = 0
  for (let starts = 0; from < text.length; starts++) {
    const start = starts < maxStarts ? text.indexOf('{', from) : -1
    if (start < 0) {
      lose(from, text.length)
      break
    }
    lose(from, start)
    const end = endOfObject(text, start)
    const whole = end.type === 'closed' ? parseObject(text.slice(start, end.at)) : undefined
    if (whole && (!isAfterCut || looksLikeRecord(whole))) {
      records.push(whole)
      stretches.push({ start, end: end.at })
      if (text.slice(0, start).trim() !== '') salvaged++
      from = end.at
      isAfterCut = false
    } else {
      from = end.type === 'closed' ? end.at : restartAfter(text, start, end)
      lose(start, from)
      isAfterCut = true
    }
  }
  return { records, stretches, salvaged, lost }
}

type End = { readonly type: 'closed'; readonly at: number } | Broken
/** The position where the grammar failed, and the range of the last object closed before it. */
type Broken = { readonly type: 'broken'; readonly at: number; readonly lastClosed: TextRange | undefined }

/**
 * Where another record may begin inside an object that was cut: shortly before the position where the grammar failed, or at
 * the object that closed there (if the cut came after a colon, the next record looks like its value).
 */
function restartAfter(text: string, start: number, broken: Broken): number {
  const last = broken.lastClosed
  if (last && last.start > start && isBlank(text.slice(last.end, broken.at))) {
    if (looksLikeRecord(parseObject(text.slice(last.start, last.end)))) return last.start
  }
  if (broken.at >= text.length) return text.length
  let candidate = broken.at
  for (let tries = 0; tries < 4; tries++) {
    candidate = text.lastIndexOf('{', candidate)
    if (candidate <= start) break
    const end = endOfObject(text, candidate)
    if (end.type === 'closed' && looksLikeRecord(parseObject(text.slice(candidate, end.at)))) return candidate
    candidate--
  }
  const next = text.indexOf('{', Math.max(broken.at, start + 1))
  return next < 0 ? text.length : next
}

const recordKeys = ['uuid', 'parentUuid', 'sessionId', 'leafUuid', 'snapshot', 'payload', 'message', 'timestamp']

/** Parts of records (messages, content blocks) have a type too, but none of these keys. */
function looksLikeRecord(value: JsonObject | undefined): boolean {
  return value !== undefined && typeof value.type === 'string' && recordKeys.some((key) => key in value)
}

/**
 * Follows the JSON grammar from the brace at `start`: strings, brackets, and what may follow a key or a comma. It is just
 * strict enough to notice a cut near its position; JSON.parse makes the final decision.
 */
function endOfObject(text: string, start: number): End {
  const opens: number[] = []
  let lastClosed: TextRange | undefined
  const broken = (at: number): Broken => ({ type: 'broken', at, lastClosed })
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      const end = endOfString(text, i)
      if (end < 0) return broken(-end)
      if (!mayFollow(text, end, ':,]}')) return broken(end)
      i = end - 1
    } else if (c === openBrace || c === openBracket) {
      if (c === openBrace && !mayFollow(text, i + 1, '"}')) return broken(i)
      opens.push(i)
    } else if (c === closeBrace || c === closeBracket) {
      const opened = opens.pop()
      if (opened === undefined || text.charCodeAt(opened) !== c - 2) return broken(i)
      lastClosed = { start: opened, end: i + 1 }
      if (opens.length === 0) return { type: 'closed', at: i + 1 }
      if (!mayFollow(text, i + 1, ',]}')) return broken(i + 1)
    } else if (c === comma) {
      // In an object, a key must follow a comma. A brace there belongs to the next record.
      const inObject = text.charCodeAt(opens.at(-1) ?? start) === openBrace
      if (inObject && text.charCodeAt(skipSpace(text, i + 1)) !== quote) return broken(i + 1)
    } else if (c === 0 || c === 0xfeff) return broken(i)
  }
  return broken(text.length)
}

const quote = 0x22
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** The position after the string that opens at `start`, or minus the position where it broke if it does not close. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) return i + 1
    if (c === 0x5c) i++
    else if (c < 0x20) return -i
  }
  return -text.length
}

/** True if the next character that is not white space is one of these, or if the text ends. */
function mayFollow(text: string, at: number, allowed: string): boolean {
  const next = skipSpace(text, at)
  return next >= text.length || allowed.includes(text.charAt(next))
}

function skipSpace(text: string, at: number): number {
  let i = at
  while (i < text.length && ' \t\r\n'.includes(text.charAt(i))) i++
  return i
}

/** White space, NUL runs and a byte-order mark contain nothing that could be lost. */
function isBlank(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: crashes leave runs of NULs
  return !/[^\s\u0000\ufeff]/.test(text)
}
