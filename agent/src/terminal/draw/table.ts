// A table in a terminal: in columns if they fit, otherwise one cell below the other.
import type { Sheet } from '../../render/sheet.ts'
import { wrapText } from '../../render/spans.ts'
import { columnsOf, padEnd } from '../../render/width.ts'

/** The first row is the header. */
export function tableLines(rows: readonly (readonly string[])[], sheet: Sheet): readonly string[] {
  const [header = [], ...body] = rows
  const widths = header.map((_, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))))
  const gap = 2
  const whole = widths.reduce((sum, width) => sum + width + gap, -gap)
  if (whole > sheet.width) return body.flatMap((row) => recordLines(header, row, sheet))
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => padEnd(row[column] ?? '', width))
      .join(' '.repeat(gap))
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join(' '.repeat(gap))
  return [sheet.paint('bold', line(header)), sheet.paint('dim', rule), ...body.map(line)]
}

/** Too wide for columns: each cell on a line of its own, with the name of its column. */
function recordLines(header: readonly string[], row: readonly string[], sheet: Sheet): readonly string[] {
  return header.flatMap((name, column) =>
    wrapText(`${name}: ${row[column] ?? ''}`, sheet.width, { first: column === 0 ? '- ' : '  ', rest: '    ' }),
  )
}
