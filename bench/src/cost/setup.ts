// The parameters of a measured session: the model and its window, the lifetime of its cache, and the agent's main activity.
import type { Kind } from './kinds.ts'

export type Setup = {
  readonly model: string
  readonly window: number
  readonly lifetime: '5m' | '1h'
  readonly kind: Kind
  /** As in real sessions, none that a cache would not outlive, or by a calendar with nights and weekends. */
  readonly pauses: 'real' | 'none' | 'calendar'
  /** What the person asks for, one after the other: the same work for everybody. */
  readonly tasks: number
  readonly seed: number
}

/** The room that a client leaves for an answer. */
export const maxOutput = 16_384

/** Where a compaction comes in a window of this size, for every strategy that does not say otherwise. */
export function thresholdOf({ window }: Pick<Setup, 'window'>): number {
  return window - 20_000 - 13_000
}
