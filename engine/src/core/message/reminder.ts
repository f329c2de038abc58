// The system reminder: how injected context joins a request. Nothing inside can end it, open another or imitate a piece.
import { neutralizePiece } from '../text/neutralize.ts'

/** A piece begins with `# kind` where it has one. */
export function contextFrame(pieces: readonly string[]): string {
  const inside = pieces.map(insideReminder).join('\n\n')
  return `<system-reminder>\nContext that may or may not be relevant:\n\n${inside}\n</system-reminder>`
}

/** Behind its first line, a line that reads as the heading of another piece becomes a quotation. */
const headings =
  /(?<=[\n\r\u2028\u2029])# ?(?:files?|todos?|plan|agents|memory-files|skills|tools|pinned|host|context|not_restored|hook[\w-]*)(?=[ \t]{0,20}(?:[\n\r]|$))/g

function insideReminder(text: string): string {
  return neutralizePiece(text).replace(headings, '> $&')
}
