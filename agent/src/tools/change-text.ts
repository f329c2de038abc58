// Replaces a text in a file's text: exactly, once or everywhere. Pure. Keeps the file's line ends.

export type TextEdit = { readonly before: string; readonly after: string; readonly isAll: boolean }

export type ChangedText =
  | { readonly type: 'changed'; readonly text: string; readonly count: number }
  | { readonly type: 'refused'; readonly why: string }

export function changeText(text: string, edit: TextEdit): ChangedText {
  const refused = (why: string): ChangedText => ({ type: 'refused', why })
  if (edit.before === '') return refused('old_string is empty. Use Write for a new file, or name the text to replace.')
  if (edit.before === edit.after) return refused('old_string and new_string are the same: nothing would change.')
  const { before, after } = fittingEnds(text, edit)
  const places = placesOf(text, before)
  if (places.length === 0) return refused(`old_string was not found.${hintFor(text, before)}`)
  if (places.length > 1 && !edit.isAll) {
    const lines = places.slice(0, 10).map((at) => lineAt(text, at))
    return refused(
      `old_string occurs ${places.length} times (lines ${lines.join(', ')}). Include more of the text around it, or set replace_all.`,
    )
  }
  return { type: 'changed', text: text.split(before).join(after), count: places.length }
}

/** A file with CRLF is shown with LF, so the model writes LF. */
function fittingEnds(text: string, { before, after }: TextEdit): Pick<TextEdit, 'before' | 'after'> {
  const isCrlf = /\r\n/.test(text) && !/(?<!\r)\n/.test(text)
  if (!isCrlf && (text.includes(before) || !text.includes('\r\n'))) return { before, after }
  const crlf = (given: string) => given.replace(/\r?\n/g, '\r\n')
  return { before: crlf(before), after: crlf(after) }
}

function placesOf(text: string, part: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

/** Common mistakes: the same lines with other white space, or with line numbers. */
function hintFor(text: string, before: string): string {
  const again = ' Read the file again and copy the text exactly.'
  if (/^\s*\d+\t/.test(before)) return ' Leave out the line numbers that Read puts in front of each line.'
  if (before.includes('[redacted: ')) return ' It contains a redacted secret, which is not the text of the file.'
  const wanted = before.split('\n').map((line) => line.trim())
  const lines = text.split('\n').map((line) => line.trim())
  const at = lines.findIndex((_, from) => wanted.every((line, index) => lines[from + index] === line))
  return at < 0 ? again : ` Lines ${at + 1} to ${at + wanted.length} are the same but for white space.${again}`
}
