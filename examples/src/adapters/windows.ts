// For tests of whose window counts: that of the model that is called, whoever writes the summaries.
import { createEngine, type EngineEvent, offline } from 'everlong'

/** The effective window of a model by default. */
export async function windowOf(model: string): Promise<number> {
  const session = await createEngine({ model: offline(), environment: {} }).start({ model })
  return session.explain().effectiveWindow.value
}

/** The windows that requests were held against, in order. */
export function windowsIn(events: readonly EngineEvent[]): readonly number[] {
  return events.flatMap((event) => (event.type === 'threshold-checked' ? [event.effectiveWindow] : []))
}
