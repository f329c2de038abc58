// When to expect the next compaction, if that can be said.
import type { Prediction } from 'everlong/internal/compaction'
import type { Session } from 'everlong/node'

/**
 * Undefined before the first compaction: nothing has shown yet that forecasts come true in this session. Afterwards the engine
 * gives none if one of the last was wrong by more than a factor of two.
 */
export function forecastOf(session: Session): Prediction | undefined {
  const { prediction, autoCompact } = session.explain()
  if (session.tracking().previous === undefined || autoCompact.mode === false) return undefined
  return prediction && prediction.turns <= maxTurns ? prediction : undefined
}

/** Nobody plans further ahead, and no session stays the same for so long. The plug-in for pi shows as many. */
const maxTurns = 50
