// Keeps quoted text from imitating our own tags, headings and markers. Idempotent and linear.

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

/** Our headings: a line with one after `##` or a number reads as a heading. */
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
  'Rules of the user that are in force, verbatim',
  'Current state',
  'Also on record',
  'From the summary before',
  'The conversation, oldest first',
  'Since that summary, oldest first',
] as const

/** Our markers: a line that begins like one reads as one. */
const lines = [
  'The user’s latest request, verbatim',
  'This conversation continues from an earlier one',
  'What followed the messages above no longer fitted',
  'Written by code from the conversation, without a model',
  'Caution: the summary claims approvals',
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

/** Invisible characters between the letters would defeat a pattern. */
const hidden = '\\p{Cf}*'
const spelled = (word: string) =>
  [...word].map((letter) => (letter === '-' ? '[-_\u2010-\u2015]' : letter)).join(hidden)
const tagged = (names: readonly string[]) =>
  new RegExp(`[<\uff1c\ufe64](?=[\\s\\p{Cf}/]*(?:${names.map(ending).join('|')}))`, 'giu')
const ending = (name: string) => (name.endsWith('-') ? spelled(name) : `${spelled(name)}(?![\\p{L}\\p{N}_-])`)

const anyTag = tagged(tags)
const reminderTag = tagged(['system-reminder'])
const frameTag = tagged(['system-reminder', 'user-message', 'user-message-verbatim'])
const notesTag = tagged(['notes', 'system-reminder'])
const literal = (text: string) => text.replace(/[[\]().*]/g, '\\$&')
const anyLine = new RegExp(`(${lines.map(literal).join('|')})|${titles.map(literal).join('|')}`, 'gi')

const opening = /[<\uff1c\ufe64]/

/** Most texts have no tag at all, and the patterns for ours take long to compile. */
function withoutTags(text: string, ours: RegExp): string {
  return opening.test(text) ? text.replace(ours, '&lt;') : text
}

/** For text quoted inside our own: no tag, heading or marker of ours. */
export function neutralize(text: string): string {
  return neutralizeHeadings(withoutTags(text, anyTag))
}

/** For a model's summary: it may use our headings, but no reminders or user messages. */
export function neutralizeFrames(text: string): string {
  return withoutTags(text, frameTag)
}

/** For our own texts: no system reminder. */
export function neutralizeReminders(text: string): string {
  return withoutTags(text, reminderTag)
}

/** For a part of a reminder, such as a file: changes only what nobody else uses, so that code stays code. */
export function neutralizePiece(text: string): string {
  return neutralizeHeadings(withoutTags(text, frameTag))
}

/** For session notes quoted to the model that maintains them. */
export function neutralizeNotes(text: string): string {
  return withoutTags(text, notesTag)
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

/** What may precede a heading on its line: blanks, heading and list markers, numbers, invisible characters. */
const headingPrefix = /[\s\p{Cf}#*_\d.):[\]-]/u
const isHeading = /[#*_\d]/
const lineEnd = /[\n\r\u2028\u2029]/

/** The start of the line, if only a heading prefix precedes this position. */
function lineStart(text: string, at: number): number | undefined {
  for (let before = at - 1; before >= 0; before--) {
    const character = text[before] ?? ''
    if (lineEnd.test(character)) return before + 1
    if (!headingPrefix.test(character)) return undefined
  }
  return 0
}
