// When to expect the next compaction, if that can be said.
import type { Prediction } from 'everlong/internal/compaction'
import type { Session } from 'everlong/node'

/**
 * Undefined before the first compaction: nothing has shown yet that forecasts come true in this session. Afterwards the engine
 * gives none if one of the last was wrong by more than a factor of two.
 */
export function forecastOf(session: Session): Prediction | undefined {
  const { prediction, autoCompact } = session.explain()
  return session.tracking().previous === undefined || autoCompact.mode === false ? undefined : prediction
}
