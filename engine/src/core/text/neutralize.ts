// Makes foreign text safe to quote: it cannot imitate our own tags, headings and markers, and on one line it has no secrets and
// no control characters. Idempotent and linear.
import { clippedAtWord } from './cut.ts'
import { withoutSecrets } from './secrets.ts'

const tags = [
  'system-reminder',
  'user-message',
  'user-message-verbatim',
  'summary',
  'analysis',
  'notes',
  'section',
  'recalled-',
] as const

/** Our headings. A line reads as one if the title follows `##` or a number. */
const titles = [
  'Primary request and intent',
  'Key technical concepts',
  'Files and code sections',
  'Errors and fixes',
  'Problem solving',
  'All user messages',
  'Pending tasks',
  'Current work',
  'Optional next step',
  'Work completed',
  'Context for continuing work',
  'What the user said, verbatim',
  'What the user said earlier, verbatim',
  'Further rules of the user, verbatim',
  'Current state',
  'Names in the summary that the conversation does not contain',
  'The record, written by code',
  'From the summary before',
  'The conversation, oldest first',
  'Since that summary, oldest first',
] as const

/** Our markers. A line that begins with one of these reads as a marker. */
const lines = [
  'The user’s latest request, verbatim',
  'This conversation continues from an earlier one',
  'What followed the messages above no longer fitted',
  'Written by code from the conversation, without a model',
  'Caution: the summary claims approvals',
  'What was said at the time, in order, as far as',
  'Unverified (not found in the conversation)',
  '(This summary was shortened by code',
  'The user asked:',
  'What was done:',
  'Summary:',
  'Summary of the conversation before this part',
  'The oldest part of the conversation does not fit in here',
  'Context that may or may not be relevant:',
  'Recalled from the archive.',
  '[The part to be summarized begins here',
  '[The conversation before this point',
  '[Result of a tool call',
  '[Tool call:',
  '[A finished part of the conversation',
  '[earlier conversation truncated',
  '[Old tool result content cleared]',
  '[Old tool input cleared]',
] as const

const frameTags = ['system-reminder', 'user-message', 'user-message-verbatim']
const literal = (text: string) => text.replace(/[[\]().*]/g, '\\$&')
const anyLine = new RegExp(`(${lines.map(literal).join('|')})|${titles.map(literal).join('|')}`, 'gi')

const between = /[\s\p{Cf}/]/u
const invisible = /\p{Cf}/u
const hyphen = /[-_\u2010-\u2015]/
const partOfName = /[\p{L}\p{N}_-]/u
const firstOutsideAscii = 0x80
const lastOfOneUnit = 0xffff
const hyphenCode = 0x2d
/** Bit that makes an ASCII capital a small letter. */
const lowerCaseBit = 0x20

/** A loop, because a regular expression runs out of memory on megabytes of blanks or invisible characters. */
function withoutTags(text: string, names: readonly string[]): string {
  const opening = /[<\uff1c\ufe64]/g
  const parts: string[] = []
  let done = 0
  while (opening.test(text)) {
    const at = opening.lastIndex
    if (!isTag(text, at, names)) continue
    parts.push(text.slice(done, at - 1), '&lt;')
    done = at
  }
  return done === 0 ? text : `${parts.join('')}${text.slice(done)}`
}

/** True if one of these names follows, after blanks, slashes and invisible characters. A name that ends in a hyphen may be longer. */
function isTag(text: string, from: number, names: readonly string[]): boolean {
  const start = skipped(text, from, between)
  return names.some((name) => {
    let at = start
    for (let nth = 0; nth < name.length; nth++) {
      if (nth > 0) at = skipped(text, at, invisible)
      if (!isLetter(text, at, name.charCodeAt(nth))) return false
      at++
    }
    return name.endsWith('-') || !partOfName.test(characterAt(text, at))
  })
}

/** Matches either case. The capital of some letters outside ASCII is one of ours. */
function isLetter(text: string, at: number, letter: number): boolean {
  const unit = text.charCodeAt(at)
  if (letter === hyphenCode) return hyphen.test(text.charAt(at))
  if (unit < firstOutsideAscii) return (unit | lowerCaseBit) === letter
  const character = text.charAt(at)
  return (
    character.toLowerCase().charCodeAt(0) === letter ||
    character.toUpperCase().charCodeAt(0) === (letter ^ lowerCaseBit)
  )
}

function skipped(text: string, from: number, what: RegExp): number {
  let at = from
  let before = -1
  for (let code = text.codePointAt(at); code !== undefined; code = text.codePointAt(at)) {
    // All invisible characters are outside ASCII.
    if (what === invisible && code < firstOutsideAscii) return at
    if (code !== before && !what.test(String.fromCodePoint(code))) return at
    before = code
    at += code > lastOfOneUnit ? 2 : 1
  }
  return at
}

/** A whole character, because some invisible ones take two units. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at)
  return code === undefined ? '' : String.fromCodePoint(code)
}

/** For text quoted inside our own. Leaves no tag, heading or marker of ours. */
export function neutralize(text: string): string {
  return neutralizeHeadings(withoutTags(text, tags))
}

/** Leaves no reminders or user messages. */
export function neutralizeFrames(text: string): string {
  return withoutTags(text, frameTags)
}

/** The user's words follow this line. */
const requestLine = /^(?=[^\S\n]*The user[’']s latest request, verbatim)/gim

/** For a model's summary. It may use our headings, but nothing that reads as a reminder or as the user's words. */
export function neutralizeSummary(text: string): string {
  return neutralizeFrames(text).replace(requestLine, '> ')
}

/** For our own texts. Leaves no system reminder. */
export function neutralizeReminders(text: string): string {
  return withoutTags(text, ['system-reminder'])
}

/** For a part of a reminder, such as a file. Changes only strings that nobody else uses, so that code stays intact. */
export function neutralizePiece(text: string): string {
  return neutralizeHeadings(withoutTags(text, frameTags))
}

/** For session notes quoted to the model that maintains them. */
export function neutralizeNotes(text: string): string {
  return withoutTags(text, ['notes', 'system-reminder'])
}

function neutralizeHeadings(text: string): string {
  const parts: string[] = []
  let done = -1
  for (const { index, 1: line } of text.matchAll(anyLine)) {
    const start = lineStart(text, index)
    if (start === undefined || start <= done || !(line || isHeading.test(text.slice(start, index)))) continue
    parts.push(text.slice(Math.max(0, done), start), '> ')
    done = start
  }
  return done < 0 ? text : `${parts.join('')}${text.slice(done)}`
}

/** Characters that may precede a heading on its line: blanks, heading and list markers, numbers, invisible characters. */
const headingPrefix = /[\s\p{Cf}#*_\d.):[\]-]/u
const isHeading = /[#*_\d]/
const lineEnd = /[\n\r\u2028\u2029]/

/** Index of the start of the line if only a heading prefix comes before this position. */
function lineStart(text: string, at: number): number | undefined {
  for (let before = at - 1; before >= 0; before--) {
    const character = text[before] ?? ''
    if (lineEnd.test(character)) return before + 1
    if (!headingPrefix.test(character)) return undefined
  }
  return 0
}

/**
 * Wraps injected context in a system reminder. Nothing inside can end it, open another or imitate a part. A part may begin with
 * `# kind`.
 */
export function contextFrame(pieces: readonly string[]): string {
  const inside = pieces.map(insideReminder).join('\n\n')
  return `<system-reminder>\nContext that may or may not be relevant:\n\n${inside}\n</system-reminder>`
}

/** Kinds of restored context. The heading of each part is its kind. */
const pieceKinds = ['files', 'todos', 'plan', 'agents', 'memory-files', 'skills', 'tools', 'pinned', 'host'] as const

export type PieceKind = (typeof pieceKinds)[number]

/** In the lines after the first, quotes a line that reads as the heading of another part. */
const headings = new RegExp(
  `(?<=[\\n\\r\\u2028\\u2029])# ?(?:${pieceKinds.join('|')}|file|todo|context|not_restored|hook[\\w-]*)(?=[ \\t]{0,20}(?:[\\n\\r]|$))`,
  'g',
)

function insideReminder(text: string): string {
  return neutralizePiece(text).replace(headings, '> $&')
}

/** Line ends, control characters, and marks that reverse or hide text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colors start with one
const colors = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g

/** Returns the text on one line, without secrets, cut to `maxLength` characters. Never splits a surrogate pair. */
export function oneLine(text: string, maxLength: number): string {
  // Reads only the part that can be shown, because an output may be megabytes long.
  const part = withoutSecrets(text.length > maxLength * 4 ? text.slice(0, maxLength * 4) : text)
  return clippedAtWord(
    part.replace(colors, '').replace(unsafe, ' ').replace(/\s+/g, ' ').trim().toWellFormed(),
    maxLength,
  )
}

export function withoutColors(text: string): string {
  return text.includes('\u001b') ? text.replace(colors, '') : text
}
