// The prompt: the typed text between two rules, with the completion menu below it.
import { oneLine, visible } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { charactersOf, columnsOf, cut, padEnd } from '../../render/width.ts'
import { menuOf } from '../input/completion.ts'
import type { Editor } from '../input/editor.ts'
import type { TerminalState } from '../state/state.ts'
import type { Drawing } from './drawing.ts'
import { keyLines } from './keys.ts'

export function editorBox(state: TerminalState, sheet: Sheet): Drawing {
  const rule = sheet.paint('dim', '─'.repeat(sheet.width))
  const most = Math.max(1, Math.floor(state.size.rows / 2) - 3)
  const text = editorLines(state.editor, sheet, { mark: '› ', most, empty: placeholderOf(state) })
  return {
    lines: [rule, ...text.lines, rule, ...(state.showsKeys ? keyLines(state, sheet) : menuLines(state, sheet))],
    ...(text.cursor ? { cursor: { x: text.cursor.x, y: text.cursor.y + 1 } } : {}),
  }
}

function placeholderOf({ agent, isPlaying }: TerminalState): string {
  if (isPlaying) return ''
  return agent?.isBusy ? 'Type to queue a message' : 'Ask something, or type / for commands'
}

export type EditorLook = {
  readonly mark: string
  /** Maximum number of lines shown around the cursor. */
  readonly most: number
  /** Shown while there is no text. */
  readonly empty: string
}

export function editorLines(editor: Editor, sheet: Sheet, { mark, most, empty }: EditorLook): Drawing {
  const indent = columnsOf(mark)
  const room = Math.max(4, sheet.width - indent - 1)
  if (editor.text === '') {
    return { lines: [`${mark}${sheet.paint('dim', cut(empty, room))}`], cursor: { x: indent, y: 0 } }
  }
  const rows = rowsOf(editor, room)
  const top = Math.max(0, Math.min(rows.cursor.y - most + 1, rows.lines.length - most))
  const shown = rows.lines.slice(top, top + most)
  return {
    lines: shown.map((line, at) => (top + at === 0 ? mark : ' '.repeat(indent)) + line),
    cursor: { x: indent + rows.cursor.x, y: rows.cursor.y - top },
  }
}

/** Rows of the screen: a line continues in the next row when the row is full. */
function rowsOf({ text, cursor }: Editor, room: number) {
  const lines: string[] = ['']
  let used = 0
  let at = 0
  let place = { x: 0, y: 0 }
  const next = () => {
    lines.push('')
    used = 0
  }
  for (const character of charactersOf(text)) {
    // A completed file name or an entry of the history may contain control characters.
    const shown = visible(character)
    const columns = columnsOf(shown)
    if (character !== '\n' && used + columns > room) next()
    if (at === cursor) place = { x: used, y: lines.length - 1 }
    at += character.length
    if (character === '\n') next()
    else {
      lines[lines.length - 1] += shown
      used += columns
    }
  }
  if (at === cursor) place = { x: used, y: lines.length - 1 }
  return { lines, cursor: place }
}

const maxRows = 8

function menuLines(state: TerminalState, { width, paint }: Sheet): readonly string[] {
  const matches = menuOf(state)
  const selected = Math.min(state.completion, matches.length - 1)
  const top = Math.max(0, Math.min(selected - maxRows + 1, matches.length - maxRows))
  const rows = matches.slice(top, top + maxRows)
  // In a narrow terminal, the description of a command is worth more than its full usage.
  const isNarrow = width < 60
  const names = rows.map(({ name, usage }) => oneLine(`${name}${usage === undefined || isNarrow ? '' : ` ${usage}`}`))
  const column = Math.min(Math.max(0, ...names.map(columnsOf)), Math.floor(width / 2))
  const lines = rows.map(({ description }, at) => {
    const isSelected = top + at === selected
    const line = cut(
      `${isSelected ? '›' : ' '} ${padEnd(cut(names[at] ?? '', column), column)}  ${oneLine(description)}`,
      width,
    )
    return paint(isSelected ? ['cyan', 'bold'] : 'dim', line)
  })
  const left = matches.length - top - rows.length
  return left > 0 ? [...lines, paint('dim', `  and ${left} more`)] : lines
}
