// A unified diff as lines of a terminal: numbers in a gutter, a mark, and the text with its changed words.
import { oneLine, visible } from '../../render/safe.ts'
import type { Sheet, Style } from '../../render/sheet.ts'
import { type Span, wrapSpans } from '../../render/spans.ts'
import { cut, padStart } from '../../render/width.ts'
import { countChanges, type Part, type PatchLine, readPatch } from './patch.ts'

const marks = { added: '+', removed: '-', kept: ' ' } as const
const colors = { added: 'green', removed: 'red' } as const

/** Marks are kept, so that the diff is readable without colors. Long lines continue below, after their mark. */
export function diffLines(diff: string, sheet: Sheet): readonly string[] {
  const lines = readPatch(diff)
  const gutter = gutterOf(lines, sheet.width)
  return lines.flatMap((line) => {
    if (line.type === 'file') return [sheet.paint('bold', cut(oneLine(line.name), sheet.width))]
    if (line.type === 'gap') return [sheet.paint('dim', padStart('⋮', gutter({}).length))]
    if (line.type === 'note') return wrapSpans([{ text: oneLine(line.text), style: 'dim' }], sheet)
    const color = line.type === 'kept' ? undefined : colors[line.type]
    const lead = (numbers: string) => {
      const text = numbers === '' ? marks[line.type] : `${numbers} ${marks[line.type]} `
      return color ? sheet.paint(color, text) : sheet.paint('dim', text)
    }
    const numbers = gutter(line)
    return wrapSpans(spansOf(line.parts, color), sheet, {
      first: lead(numbers),
      rest: lead(' '.repeat(numbers.length)),
    })
  })
}

const minTwoColumns = 60
const minText = 16

type Gutter = (line: Partial<{ readonly before: number; readonly after: number }>) => string

/** The numbers before and after the change. Only one if there is no room or no need for two, and none if none are known. */
function gutterOf(lines: readonly PatchLine[], width: number): Gutter {
  const numbers = lines.flatMap((line) => ('parts' in line ? [line.before ?? 0, line.after ?? 0] : []))
  const max = Math.max(0, ...numbers)
  const digits = String(max).length
  if (max === 0 || width < digits + minText) return () => ''
  const pad = (number: number | undefined) => padStart(number === undefined ? '' : String(number), digits)
  const { added, removed } = countChanges(lines)
  const hasOneSide = (added === 0 || removed === 0) && !lines.some(({ type }) => type === 'kept')
  if (hasOneSide || width < minTwoColumns) return ({ before, after }) => pad(after ?? before)
  return ({ before, after }) => `${pad(before)} ${pad(after)}`
}

function spansOf(parts: readonly Part[], color: 'green' | 'red' | undefined): readonly Span[] {
  return parts.map(({ text, isChanged }, at) => {
    const style: Style | undefined = color && isChanged ? [color, 'inverse'] : color
    const shown = shownPart(text, { isChanged, isEnd: color !== undefined && at === parts.length - 1 })
    return style === undefined ? { text: shown } : { text: shown, style }
  })
}

/** Changed spaces at the end of a line, tabs and line ends would otherwise be invisible. */
function shownPart(
  text: string,
  { isChanged, isEnd }: { readonly isChanged: boolean; readonly isEnd: boolean },
): string {
  const isSpace = isChanged && text.trim() === ''
  const spaced = text.replaceAll('\t', isSpace ? '→   ' : '    ').replaceAll('\r', isSpace ? '␍' : '')
  const ended = isEnd ? spaced.replace(/ +$/, (spaces) => '·'.repeat(spaces.length)) : spaced
  return visible(ended)
}

/** `+3 −1` */
export function changedLines(diff: string): string {
  const { added, removed } = countChanges(readPatch(diff))
  return `+${added} −${removed}`
}
