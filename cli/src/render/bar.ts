// Bars: a plain one for comparisons, and one with segments for compositions.
import type { Style } from '@everlong/agent/render'
import type { Screen } from './screen.ts'

/** A bar in eighths of a column, for comparing values. A value above zero shows at least a sliver. */
export function bar(share: number, columns: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]
}

export type Segment = {
  readonly size: number
  readonly style: Style
  /** The character for screens without color. */
  readonly letter: string
}

/**
 * Segments along one line with this many columns; `whole` is the size of the full line. Ends are rounded to their position: a
 * segment may vanish, but it never shifts later ones.
 */
export function segmentedBar(
  segments: readonly Segment[],
  along: { readonly whole: number; readonly columns: number },
  screen: Screen,
): string {
  let text = ''
  let used = 0
  let size = 0
  for (const segment of segments) {
    size += segment.size
    const end = Math.min(along.columns, Math.round((size / along.whole) * along.columns))
    const cells = Math.max(0, end - used)
    text += screen.isColored ? screen.paint(segment.style, '█'.repeat(cells)) : segment.letter.repeat(cells)
    used = Math.max(used, end)
  }
  return text + screen.paint('dim', '·'.repeat(along.columns - used))
}
