// For tests of the window in use: the called model's, whichever model writes the summaries.
import { createEngine, type EngineEvent, offline } from 'everlong'

/** The effective window of a model by default. */
export async function windowOf(model: string): Promise<number> {
  const session = await createEngine({ model: offline(), environment: {} }).start({ model })
  return session.explain().effectiveWindow.value
}

/** The windows with which requests were compared, in order. */
export function windowsIn(events: readonly EngineEvent[]): readonly number[] {
  return events.flatMap((event) => (event.type === 'threshold-checked' ? [event.effectiveWindow] : []))
}
