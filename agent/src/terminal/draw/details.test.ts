import { expect, test } from 'vitest'
import { createSheet } from '../../render/sheet.ts'
import { columnsOf } from '../../render/width.ts'
import type { Detail } from '../state/state.ts'
import { createDetailLines } from './details.ts'

const call = { id: 't1', name: 'Bash', subject: 'ls', input: '{}', outcome: '1 line', isError: false }
const detailOf = (output: string): Detail => ({ type: 'call', call: { ...call, output } })
const sheetOf = (width: number) => createSheet({ width, isColored: false })

test('details are drawn once for each width, and again after the terminal was resized', () => {
  const linesOf = createDetailLines()
  const detail = detailOf('many words '.repeat(30))
  const wide = linesOf(detail, sheetOf(120))
  expect(linesOf(detail, sheetOf(120))).toBe(wide)
  const narrow = linesOf(detail, sheetOf(40))
  expect(Math.max(...narrow.map(columnsOf))).toBeLessThanOrEqual(40)
  expect(linesOf(detail, sheetOf(120))).toEqual(wide)
  expect(linesOf(detailOf('other'), sheetOf(120))).toContain('other')
})

test('what a failed call said is named an error', () => {
  const linesOf = createDetailLines()
  const failed: Detail = { type: 'call', call: { ...call, output: 'No such file.', isError: true } }
  expect(linesOf(failed, sheetOf(80)).slice(-3)).toEqual(['Error', 'No such file.', ''])
  expect(linesOf(detailOf('a.ts'), sheetOf(80)).slice(-3)).toEqual(['Output', 'a.ts', ''])
})
