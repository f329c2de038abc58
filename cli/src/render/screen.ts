// The sheet a command is rendered on: how wide it is, whether it has colours, and the few shapes all screens share.
import { styleText } from 'node:util'
import type { Surroundings } from '../surroundings.ts'
import { columnsOf, cut, padEnd, padStart, wrap } from './width.ts'

export type Style = Parameters<typeof styleText>[0]

export type Screen = {
  readonly width: number
  readonly isColoured: boolean
  readonly timeZone: string | undefined
  readonly paint: (style: Style, text: string) => string
}

const narrowest = 40
const widest = 120

export function screenOf({ stdout, env, timeZone }: Surroundings): Screen {
  const isColoured = stdout.isTTY === true && (stdout.hasColors?.(16, env) ?? false)
  const asked = stdout.isTTY === true ? stdout.columns : Number(env.COLUMNS)
  return {
    width: Math.min(widest, Math.max(narrowest, asked || 80)),
    isColoured,
    timeZone,
    paint: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
  }
}

export function heading(text: string, screen: Screen): string {
  return screen.paint('bold', text)
}

/** Labels and what they stand for, aligned; long values go on below themselves. */
export function facts(pairs: readonly (readonly [string, string])[], screen: Screen): readonly string[] {
  const labels = Math.max(...pairs.map(([label]) => columnsOf(label)))
  const room = screen.width - labels - 4
  return pairs.flatMap(([label, value]) =>
    wrap(value, room).map((line, index) => {
      const left = padEnd(index === 0 ? label : '', labels)
      return `  ${screen.paint('dim', left)}  ${cut(line, room)}`
    }),
  )
}

export type Column = { readonly name: string; readonly align?: 'right' }
export type Cell = string | { readonly text: string; readonly style: Style }

/** A table as narrow as its contents; where it is too wide, its last column is cut. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): readonly string[] {
  const widths = columns.map(({ name }, index) =>
    Math.max(columnsOf(name), ...rows.map((row) => columnsOf(textOf(row[index])))),
  )
  const last = widths.length - 1
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 2)
  widths[last] = Math.min(widths[last] ?? 0, Math.max(4, screen.width - before))
  const line = (cells: readonly Cell[], style?: Style) =>
    `  ${columns
      .map((column, index) => {
        const cell = cells[index] ?? ''
        const width = widths[index] ?? 0
        const text = cut(textOf(cell), width)
        const padded = column.align === 'right' ? padStart(text, width) : padEnd(text, width)
        const own = typeof cell === 'string' ? style : cell.style
        return own === undefined ? padded : screen.paint(own, padded)
      })
      .join('  ')}`.trimEnd()
  return [
    line(
      columns.map(({ name }) => name),
      'dim',
    ),
    ...rows.map((row) => line(row)),
  ]
}

function textOf(cell: Cell | undefined): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text
}
