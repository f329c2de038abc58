// Hands events to whoever listens. A listener that throws or rejects stops nobody: the others hear of it.
import type { EngineEvent, EventSource } from './events.ts'
import { callNow } from './guarded.ts'

export type Listener = (event: EngineEvent) => void

export type Listeners = {
  readonly emit: (event: EngineEvent) => void
  /** Returns how to take it out again. */
  readonly add: (listener: Listener) => () => void
}

/** `source` stands on every event. */
export function createListeners(first: readonly Listener[], source: EventSource = {}): Listeners {
  const all = new Set(first)
  const emit = (event: EngineEvent): void => {
    for (const listener of all)
      callNow(
        () => listener({ ...event, ...source }),
        (why) => report(event, why),
      )
  }
  const report = (event: EngineEvent, why: string): void => {
    // A listener that breaks on the report as well is not reported again.
    if (event.type === 'host-code-failed' && event.code === 'listener') return
    emit({ type: 'host-code-failed', code: 'listener', problem: `at ${event.type}: ${why}` })
  }
  return {
    emit,
    add: (listener) => {
      all.add(listener)
      return () => {
        all.delete(listener)
      }
    },
  }
}
