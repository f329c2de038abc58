// Predicts the next compaction, if possible.
import type { Prediction } from 'everlong/internal/compaction'
import type { Session } from 'everlong/node'

/**
 * Undefined before the first compaction, because no forecast has been confirmed in this session. Later, the engine gives none if
 * a recent one was wrong by more than a factor of two.
 */
export function forecastOf(session: Session): Prediction | undefined {
  const { prediction, autoCompact } = session.explain()
  if (session.tracking().previous === undefined || autoCompact.mode === false) return undefined
  return prediction && prediction.turns <= maxTurns ? prediction : undefined
}

/** Nobody plans further ahead, and no session stays the same that long. The plug-in for pi uses the same limit. */
const maxTurns = 50
