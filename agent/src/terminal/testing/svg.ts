// A terminal's screen as an SVG picture: text stays text, colors stay colors.
import type xterm from '@xterm/headless'
import { columnsOf } from '../../render/width.ts'

const cell = { width: 8.4, height: 18 }
const margin = 12
const palette = ['#1e1e2e', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0']
const foreground = '#d7dae0'
const background = '#1e1e2e'

export type Picture = {
  /** A description for screen readers. */
  readonly title: string
  /** Changes texts, such as paths that differ from run to run. */
  readonly clean: (text: string) => string
}

export function svgOf(terminal: xterm.Terminal, { title, clean }: Picture): string {
  const { active } = terminal.buffer
  const rows = Array.from({ length: terminal.rows }, (_, row) => spansOf(terminal, active.baseY + row))
  const used = rows.findLastIndex((spans) => spans.length > 0) + 1
  const width = Math.ceil(terminal.cols * cell.width + 2 * margin)
  const height = used * cell.height + 2 * margin
  const lines = rows
    .slice(0, used)
    .flatMap((spans, row) => spans.flatMap((span) => elementsOf({ ...span, text: clean(span.text) }, row)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escaped(title)}</title>`,
    // Browsers of today do not read xml:space.
    '<style>text { white-space: pre }</style>',
    `<rect width="100%" height="100%" rx="6" fill="${background}"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`,
    ...lines,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

type Span = {
  readonly column: number
  readonly text: string
  readonly columns: number
  readonly style: string
  /** Of the cells behind the text, where it is inverse. */
  readonly behind?: string
}

/** Neighboring cells with the same style. */
function spansOf({ buffer, cols }: xterm.Terminal, row: number): readonly Span[] {
  const line = buffer.active.getLine(row)
  const spans: Span[] = []
  for (let column = 0; line && column < cols; column++) {
    const each = line.getCell(column)
    if (!each || each.getWidth() === 0) continue
    const text = each.getChars() || ' '
    const color = each.isFgPalette() ? (palette[each.getFgColor() % 8] ?? foreground) : foreground
    const behind = each.isInverse() ? { behind: color } : {}
    const style = styleOf(each, each.isInverse() ? background : color)
    const last = spans.at(-1)
    if (last && last.style === style && last.behind === behind.behind && last.column + last.columns === column) {
      spans[spans.length - 1] = { ...last, text: last.text + text, columns: last.columns + each.getWidth() }
    } else spans.push({ column, text, columns: each.getWidth(), style, ...behind })
  }
  return spans.filter(({ text, behind }) => behind !== undefined || text.trim() !== '')
}

function styleOf(each: xterm.IBufferCell, color: string): string {
  return [
    `fill="${color}"`,
    ...(each.isBold() ? ['font-weight="bold"'] : []),
    ...(each.isItalic() ? ['font-style="italic"'] : []),
    ...(each.isUnderline() ? ['text-decoration="underline"'] : []),
    ...(each.isDim() ? ['opacity="0.6"'] : []),
  ].join(' ')
}

function elementsOf({ column, text, style, behind }: Span, row: number): readonly string[] {
  const x = (margin + column * cell.width).toFixed(1)
  const top = margin + row * cell.height
  const widthOf = (words: string) => (columnsOf(words) * cell.width).toFixed(1)
  const words = text.trimEnd()
  return [
    ...(behind === undefined
      ? []
      : [`<rect x="${x}" y="${top}" width="${widthOf(text)}" height="${cell.height}" fill="${behind}"/>`]),
    ...(words === ''
      ? []
      : [`<text x="${x}" y="${top + 13}" textLength="${widthOf(words)}" ${style}>${escaped(words)}</text>`]),
  ]
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character)
}
