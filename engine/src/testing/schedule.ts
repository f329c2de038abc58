// How long the small sessions of other clients are, and after which turns they are compacted.

export type SmallSessionOptions = {
  readonly seed: number
  readonly turns?: number
  readonly compactions?: number
  /** ISO time of the first line. */
  readonly startTime?: string
}

export type Schedule = {
  readonly turns: number
  /** Turns, counted from 1, in which a compaction comes. */
  readonly compactionTurns: readonly number[]
  /** Milliseconds since 1970. */
  readonly startTime: number
}

/** Compactions evenly spread, with at least one turn after the last. */
export function scheduleOf(options: SmallSessionOptions): Schedule {
  const compactions = options.compactions ?? 1
  const turns = Math.max(options.turns ?? 6, compactions + 1)
  const place = (_: unknown, index: number) => Math.floor(((index + 1) * turns) / (compactions + 1))
  return {
    turns,
    compactionTurns: Array.from({ length: compactions }, place),
    startTime: Date.parse(options.startTime ?? '2026-03-02T09:00:00.000Z'),
  }
}
