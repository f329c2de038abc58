// The keys at the prompt, as the list that `?` opens below it.
import type { Sheet } from '../../render/sheet.ts'
import { columnsOf, cut, padEnd } from '../../render/width.ts'
import type { TerminalState } from '../state/state.ts'

const rows: readonly (readonly [string, string])[] = [
  ['Enter', 'sends, or queues'],
  ['Alt+Enter', 'new line'],
  ['/', 'commands'],
  ['@', 'files'],
  ['!', 'runs a shell command'],
  ['↑ ↓', 'history'],
  ['Ctrl+R', 'searches the history'],
  ['Tab', 'completes'],
  ['Ctrl+W', 'deletes a word'],
  ['Ctrl+U', 'deletes to the line start'],
  ['Ctrl+K', 'deletes to the line end'],
  ['Ctrl+Y', 'inserts what was deleted'],
  ['Ctrl+_', 'undoes an edit'],
  ['Ctrl+G', 'opens your editor'],
  ['Ctrl+V', 'attaches an image'],
  ['Shift+Tab', 'changes the mode'],
  ['Ctrl+O', 'expands calls, receipts'],
  ['Ctrl+B', 'sends to background'],
  ['Esc', 'interrupts; twice, clears'],
  ['Ctrl+C', 'interrupts; twice, quits'],
  ['Ctrl+D', 'quits'],
  ['Ctrl+L', 'draws the screen again'],
  ['Ctrl+Z', 'back to the shell'],
  ['?', 'again: types it'],
]

const nameColumns = Math.max(...rows.map(([name]) => columnsOf(name)))
const cellColumns = nameColumns + 1 + Math.max(...rows.map(([, words]) => columnsOf(words))) + 2
/** Other rows around the list: an empty line, the prompt between its rules, the gauge, a status line, and one free row. */
const otherRows = 8

export function keyLines({ size }: Pick<TerminalState, 'size'>, { width, paint }: Sheet): readonly string[] {
  const columns = Math.max(1, Math.floor(width / cellColumns))
  const height = Math.ceil(rows.length / columns)
  const room = Math.max(1, size.rows - otherRows)
  const shown = height > room ? room - 1 : height
  const lines = Array.from({ length: shown }, (_, row) => {
    const cells = Array.from({ length: columns }, (_, column) => rows[column * height + row])
    return cells.map((cell) => (cell ? padEnd(`${padEnd(cell[0], nameColumns)} ${cell[1]}`, cellColumns) : '')).join('')
  })
  const all = height > room ? [...lines, '… A higher window shows all keys.'] : lines
  return all.map((line) => paint('dim', cut(line.trimEnd(), width)))
}
