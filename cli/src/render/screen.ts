// The layout of a command's output: width, colors, and shared shapes.
import {
  columnsOf,
  createSheet,
  cut,
  cutStart,
  fold,
  oneLine,
  padEnd,
  padStart,
  type Sheet,
  type Style,
  visible,
  wrap,
} from '@everlong/agent/render'
import type { Io } from '../io.ts'

export type Screen = Sheet & {
  /** True if a person looks at it, false for a file or another program. */
  readonly isTerminal: boolean
  readonly isColored: boolean
  readonly timeZone: string | undefined
}

const minWidth = 40
const maxWidth = 120
/** On a narrower terminal some tables and sentences do not fit in one line. */
const minUnfolded = 72

export function screenOf({ stdout, env, timeZone }: Io): Screen {
  const isColored = stdout.isTTY === true && (stdout.hasColors?.(16, env) ?? false)
  const asked = stdout.isTTY === true ? stdout.columns : Number(env.COLUMNS)
  return {
    ...createSheet({ width: Math.min(maxWidth, Math.max(minWidth, asked || 80)), isColored }),
    isTerminal: stdout.isTTY === true,
    isColored,
    timeZone,
  }
}

/** Wraps lines between words for a narrow terminal. On a wider one, commands to be copied stay in one line. */
export function foldedFor({ stdout }: Pick<Io, 'stdout'>, lines: readonly string[]): readonly string[] {
  const { isTTY, columns } = stdout
  // Some pseudo-terminals say that they have no columns.
  return isTTY === true && columns !== undefined && columns > 0 && columns < minUnfolded
    ? lines.flatMap((line) => fold(line, columns))
    : lines
}

/** The heading with the file of a screen. */
export function fileHeading(path: string, screen: Screen): string {
  return heading(cutStart(visible(path), screen.width), screen)
}

export function heading(text: string, screen: Screen): string {
  return screen.paint('bold', text)
}

/** Adds a note: beside the text, or below it if the screen is too narrow. */
export function headingWith(text: string, note: string, screen: Screen): readonly string[] {
  const fits = columnsOf(text) + 2 + columnsOf(note) <= screen.width
  if (fits) return [`${heading(text, screen)}  ${screen.paint('dim', note)}`]
  return [heading(text, screen), ...paragraph(note, screen, 'dim')]
}

/** Labels and values, aligned; long values wrap below themselves. */
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

/** Commands to be copied, which are never cut, and descriptions: beside them, or below if the screen is too narrow. */
export function commandList(commands: readonly (readonly [string, string])[], screen: Screen): readonly string[] {
  const left = Math.max(...commands.map(([command]) => columnsOf(command)))
  const right = Math.max(...commands.map(([, what]) => columnsOf(what)))
  const isWide = left + right + 4 <= screen.width
  return commands.flatMap(([command, what]) =>
    isWide
      ? [`  ${padEnd(command, left)}  ${screen.paint('dim', what)}`]
      : [`  ${command}`, screen.paint('dim', `      ${what}`)],
  )
}

/** Wrapped text. A no-break space prevents a line break. */
export function paragraph(text: string, screen: Screen, style?: Style): readonly string[] {
  return wrap(text, screen.width - 2)
    .map((line) => line.replaceAll('\u00a0', ' ').trimEnd())
    .map((line) => `  ${style === undefined ? line : screen.paint(style, line)}`)
}

/** Information that the reader did not ask for. */
export function remarks(texts: readonly string[], screen: Screen): readonly string[] {
  return texts.flatMap((text) => paragraph(oneLine(text), screen, 'yellow'))
}

export type Column = {
  readonly name: string
  readonly align?: 'right'
  /** Columns to omit if there is no room for all, last one first. */
  readonly isSpare?: boolean
}
export type Cell = string | { readonly text: string; readonly style: Style }

/**
 * A table as narrow as its contents. If it is too wide, columns move together, then spare columns are omitted, and then the
 * widest text column is cut, never a number.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): readonly string[] {
  const names = columns.map(({ name }) => name)
  const wanted = names.map((name, index) =>
    Math.max(columnsOf(name), ...rows.map((row) => columnsOf(textOf(row[index])))),
  )
  const spare = columns.findLastIndex(({ isSpare }) => isSpare)
  if (spare >= 0 && wanted.reduce((sum, width) => sum + width + 1, 1) > screen.width) {
    const fewer = rows.map((row) => row.toSpliced(spare, 1))
    return table(columns.toSpliced(spare, 1), fewer, screen)
  }
  const { widths, gap } = fitted(wanted, columns, screen.width - 2)
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
      .join(' '.repeat(gap))}`.trimEnd()
  return [line(names, 'dim'), ...rows.map((row) => line(row))]
}

function fitted(
  wanted: readonly number[],
  columns: readonly Column[],
  room: number,
): { readonly widths: readonly number[]; readonly gap: number } {
  const sum = wanted.reduce((all, width) => all + width, 0)
  const gap = sum + 2 * (wanted.length - 1) <= room ? 2 : 1
  const over = sum + gap * (wanted.length - 1) - room
  if (over <= 0) return { widths: wanted, gap }
  const words = wanted.map((width, index) => (columns[index]?.align === 'right' ? 0 : width))
  const widest = words.indexOf(Math.max(...words))
  return { widths: wanted.map((width, index) => (index === widest ? Math.max(4, width - over) : width)), gap }
}

function textOf(cell: Cell | undefined): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text
}
