// Bars: a plain one for comparing, and one in segments for what something is made of.
import type { Style } from '@everlong/agent/render'
import type { Screen } from './screen.ts'

/** A bar of eighths, for values beside one another. Something that is there shows at least a sliver. */
export function bar(share: number, columns: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]
}

export type Segment = {
  readonly size: number
  readonly style: Style
  /** What the segment is drawn with where there is no color. */
  readonly letter: string
}

/**
 * Segments along one line with this many columns; `whole` is the size of the full line. Rounded so that the ends lie
 * where they belong: a segment may vanish, but what follows it is not pushed on.
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
