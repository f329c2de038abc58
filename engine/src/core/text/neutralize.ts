// Text from tools, files, models and people can imitate what we put around text: tags, headings, marks. Quoted inside a
// text of ours it must not. The words stay readable; a second pass changes nothing; the time is linear.

/** Tags that mean something where we write them. */
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

/** Titles of ours: a line that holds one behind `##` or a number reads as a heading. */
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
] as const

/** Lines of ours: what begins like one reads as one. */
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
  '[The part to be summarised begins here',
  '[The conversation before this point',
  '[Result of a tool call',
  '[Tool call:',
  '[A finished part of the conversation',
  '[earlier conversation truncated',
  '[Old tool result content cleared]',
  '[Old tool input cleared]',
] as const

/** Hidden characters between the letters would fool a pattern and no reader. */
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

/** For text that is quoted inside a text of ours: it forms no tag, no heading and no mark that we use. */
export function neutralize(text: string): string {
  return neutralizeHeadings(text.replace(anyTag, '&lt;'))
}

/** For a summary as a model wrote it: its headings are its own, but it forms no reminder and no words of the user. */
export function neutralizeFrames(text: string): string {
  return text.replace(frameTag, '&lt;')
}

/** For a whole text of ours, with its headings and frames: it forms no system reminder. */
export function neutralizeReminders(text: string): string {
  return text.replace(reminderTag, '&lt;')
}

/** For a piece of a reminder, which may be a file: only what nobody else uses is changed, so that code stays code. */
export function neutralizePiece(text: string): string {
  return neutralizeHeadings(text.replace(frameTag, '&lt;'))
}

/** For the notes of a session where they are quoted to the model that keeps them. */
export function neutralizeNotes(text: string): string {
  return text.replace(notesTag, '&lt;')
}

/** Lines that read as headings or marks of ours become quotations. */
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

/** What may stand before a heading on its line: blanks, marks of headings and lists, numbers, hidden characters. */
const dress = /[\s\p{Cf}#*_\d.):[\]-]/u
const isHeading = /[#*_\d]/
const lineEnd = /[\n\r\u2028\u2029]/

/** Where the line begins, if nothing but the dress of a heading stands before this place. */
function lineStart(text: string, at: number): number | undefined {
  for (let before = at - 1; before >= 0; before--) {
    const character = text[before] ?? ''
    if (lineEnd.test(character)) return before + 1
    if (!dress.test(character)) return undefined
  }
  return 0
}
