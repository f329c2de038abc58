// Stages for scenario tests: the engine with its own client, and the simulator on a socket. Closed after each test.
import type { HostHooks } from 'everlong'
import { afterEach, vi } from 'vitest'
import type { LoopEvent } from '../events.ts'
import { type QueryOptions, query } from '../loop.ts'
import { type Stage, type StageOptions, setStage } from './stage.ts'

export function stagesOverHttp(): (options?: StageOptions) => Promise<Stage> {
  const open: Stage[] = []
  afterEach(async () => {
    for (const stage of open.splice(0)) await stage.close()
  })
  return async (options = {}) => {
    const stage = await setStage({ over: 'http', ...options })
    open.push(stage)
    return stage
  }
}

/** Runs the loop to its end. An endless loop stops at a turn limit that no test here reaches. */
export async function runLoop(options: QueryOptions): Promise<readonly LoopEvent[]> {
  const events: LoopEvent[] = []
  for await (const event of query({ maxTurns: 100, ...options })) events.push(event)
  return events
}

/** The types of the yielded events in order, without the engine's own. Repeated ones appear once. */
export function inTurn(events: readonly LoopEvent[]): readonly LoopEvent['type'][] {
  const types = events.map(({ type }) => type).filter((type) => type !== 'engine')
  return types.filter((type, at) => type !== types[at - 1])
}

/** HostHooks that tell the person something before each compaction. */
export function saying(message: string): HostHooks {
  return { run: async ({ event }) => ({ messages: event === 'PreCompact' ? [message] : [] }) }
}

export function eventsOf<T extends LoopEvent['type']>(
  events: readonly LoopEvent[],
  type: T,
): readonly Extract<LoopEvent, { readonly type: T }>[] {
  return events.filter((event): event is Extract<LoopEvent, { readonly type: T }> => event.type === type)
}

/** A promise and the function that resolves it, for a script that must wait. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** Throws after a minute, so that a test that waits in vain fails and ends. */
export async function until(isSo: () => boolean): Promise<void> {
  await vi.waitUntil(isSo, { timeout: 60_000, interval: 5 })
}
