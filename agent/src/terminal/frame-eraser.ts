// Erases the frame when the terminal becomes narrower. Terminals then wrap its lines, but ink erases as many rows as it once
// wrote, and the first rows of the old frame would stay on the screen.
import { stripVTControlCharacters } from 'node:util'
import { columnsOf } from '../render/width.ts'
import type { Drawing } from './draw/drawing.ts'

/** A frame as it is on the screen. */
export type Frame = Drawing & { readonly columns: number }

/**
 * Moves to the first row of a frame that was wrapped at `columns`, and erases from there. Only for terminals that keep the cursor
 * at its character, as tmux does: xterm.js moves it down when lines below it wrap. Without a cursor of its own, a frame leaves
 * the terminal's below its last line.
 */
export function eraseWrapped({ lines, cursor }: Frame, columns: number): string {
  const { x, y } = cursor ?? { x: 0, y: lines.length }
  const above = lines.slice(0, y).reduce((sum, line) => sum + rowsOf(line, columns), 0)
  const rows = above + Math.floor(x / columns)
  const up = rows > 0 ? `\u001b[${rows}A` : ''
  // The first row apart: tmux puts a screen that is erased from its first cell into the scrollback.
  return `\r${up}\u001b[2K\u001b[B\u001b[J\u001b[A`
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(columnsOf(stripVTControlCharacters(line)) / columns))
}
