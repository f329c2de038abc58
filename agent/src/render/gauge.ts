// How full a context is: the numbers that gauges show, and the bar.
import type { ContextState, Explanation } from 'everlong/internal/compaction'
import type { Sheet, Style } from './sheet.ts'

export type Fullness = Pick<Explanation, 'state' | 'percentLeft'> & {
  readonly tokens: number
  readonly limit: number
  readonly isAutoCompactOn: boolean
  readonly isEstimated: boolean
}

export function fullnessOf(explanation: Explanation): Fullness {
  const { state, percentLeft, size, limit, autoCompact } = explanation
  return {
    state,
    percentLeft,
    tokens: size.tokens,
    limit: limit.value,
    isAutoCompactOn: autoCompact.mode !== false,
    isEstimated: size.source !== 'usage',
  }
}

export const stateStyles: Readonly<Record<ContextState, Style>> = {
  ok: 'green',
  warning: 'yellow',
  error: 'red',
  'over-threshold': 'red',
  blocking: ['red', 'bold'],
}

/** The used share of the limit, in the color of the state. */
export function gauge(
  context: { readonly used: number; readonly limit: number; readonly state: ContextState },
  columns: number,
  { paint }: Pick<Sheet, 'paint'>,
): string {
  const filled = Math.min(columns, Math.round((context.used / context.limit) * columns))
  return paint(stateStyles[context.state], '█'.repeat(filled)) + paint('dim', '░'.repeat(columns - filled))
}
