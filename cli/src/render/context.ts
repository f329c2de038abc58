// Texts and bars for how full a context is, the same on every screen.
import { columnsOf, count, type Fullness, gauge, stateStyles } from '@everlong/agent/render'
import type { ContextSize } from 'everlong/internal/compaction'
import type { Screen } from './screen.ts'

/** The source of the number in words. An estimate is always marked as one. */
export function sourceInWords(size: ContextSize): string {
  const { source, freed = 0 } = size
  if (source === 'usage' && freed > 0) return `as the latest answer reported, less ${count(freed)} that went since`
  if (source === 'usage') return 'as the latest answer reported'
  if (source === 'estimate') return 'all of it estimated'
  return `${count(size.reported)} reported, ${count(size.estimated)} estimated`
}

/** The gauge: a bar to the limit, and the rest. */
export function gaugeLine(fullness: Fullness, screen: Screen): string {
  const text = leftInWords(fullness)
  const columns = Math.max(10, Math.min(48, screen.width - columnsOf(text) - 4))
  const picture = gauge({ ...fullness, used: fullness.tokens }, columns, screen)
  return `  ${picture}  ${screen.paint(stateStyles[fullness.state], text)}`
}

function leftInWords({ state, percentLeft, isAutoCompactOn, isEstimated }: Fullness): string {
  const estimated = isEstimated ? ' (estimated)' : ''
  if (state === 'blocking') return `full: compact before the next request${estimated}`
  if (state === 'over-threshold') return `over the threshold: compaction is due${estimated}`
  return `${percentLeft} % left ${isAutoCompactOn ? 'until auto-compact' : '(auto-compact is off)'}${estimated}`
}
