// The system reminder: how context that nobody said joins a request. It claims no more for its pieces than that they may
// help. Nothing inside can end it, open another, or read as a piece of its own.
import { neutralizePiece } from '../text/neutralize.ts'

/** A piece begins with `# kind` where it has one. */
export function contextFrame(pieces: readonly string[]): string {
  const inside = pieces.map(insideReminder).join('\n\n')
  return `<system-reminder>\nContext that may or may not be relevant:\n\n${inside}\n</system-reminder>`
}

/** Behind its first line, a line that reads as the heading of another piece becomes a quotation. */
const headings =
  /(?<=[\n\r\u2028\u2029])# ?(?:files?|todos?|plan|agents|memory-files|skills|tools|pinned|host|context|hook[\w-]*)(?=[ \t]{0,20}(?:[\n\r]|$))/g

function insideReminder(text: string): string {
  return neutralizePiece(text).replace(headings, '> $&')
}
