// A unified diff as colored lines.
import { safeText } from '../../render/safe.ts'
import type { Sheet, Style } from '../../render/sheet.ts'
import { wrapText } from '../../render/spans.ts'

/** Marks are kept, so that the diff can be read without colors. Long lines continue below, after their mark. */
export function diffLines(diff: string, sheet: Sheet): readonly string[] {
  const lines = safeText(diff).trimEnd().split('\n')
  return lines
    .filter((line) => !/^(Index: |={10,}|--- |\+\+\+ |\\ No newline)/.test(line))
    .flatMap((line) => {
      const style = styleOf(line)
      const mark = line.slice(0, 1)
      const text = wrapText(line.slice(1), sheet.width - 1)
      return (text.length === 0 ? [''] : text).map((part) => (style ? sheet.paint(style, mark + part) : mark + part))
    })
}

function styleOf(line: string): Style | undefined {
  if (line.startsWith('@@')) return 'cyan'
  if (line.startsWith('+')) return 'green'
  return line.startsWith('-') ? 'red' : undefined
}

/** `+3 −1` */
export function changedLines(diff: string): string {
  const lines = diff.split('\n')
  const added = lines.filter((line) => /^\+(?!\+\+ )/.test(line)).length
  const removed = lines.filter((line) => /^-(?!-- )/.test(line)).length
  return `+${added} −${removed}`
}
