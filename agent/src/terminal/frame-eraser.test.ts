import { expect, test } from 'vitest'
import { eraseWrapped } from './frame-eraser.ts'

const lines = ['', '─'.repeat(100), '› text', '─'.repeat(100)]
const erased = (rows: number) => `\r${rows === 0 ? '' : `\u001b[${rows}A`}\u001b[2K\u001b[B\u001b[J\u001b[A`

test.each([
  ['every row of the lines above the cursor counts', { lines, cursor: { x: 3, y: 2 } }, 50, 3],
  ['a line that just fits is one row', { lines, cursor: { x: 3, y: 2 } }, 100, 2],
  ['one column less makes two', { lines, cursor: { x: 3, y: 2 } }, 99, 3],
  ['the line of the cursor counts up to the cursor', { lines: ['x'.repeat(90)], cursor: { x: 85, y: 0 } }, 40, 2],
  ['colors take no room', { lines: [`\u001b[2m${'─'.repeat(40)}\u001b[22m`, ''], cursor: { x: 0, y: 1 } }, 40, 1],
  ['wide characters take two columns', { lines: ['世'.repeat(30), ''], cursor: { x: 0, y: 1 } }, 40, 2],
  ['without a cursor, the terminal is below the last line', { lines }, 50, 6],
  ['a frame that begins at the cursor needs no move', { lines, cursor: { x: 0, y: 0 } }, 50, 0],
])('%s', (_, drawing, columns, rows) => {
  expect(eraseWrapped({ ...drawing, columns: 110 }, columns)).toBe(erased(rows))
})
