// Shared settings of the made-up sessions of other clients: length, clock and texts.
import { type Random, random } from '../random.ts'
import { type TextPool, textPool } from '../sessions/text.ts'

export type SmallSessionOptions = {
  readonly seed: number
  readonly turns?: number
  readonly compactions?: number
  /** ISO time of the first line. */
  readonly startTime?: string
}

export type Setting = {
  readonly random: Random
  readonly pool: TextPool
  readonly turns: number
  /** Turns with a compaction, counted from 1: evenly spread, and never the last turn. */
  readonly compactionTurns: readonly number[]
  time: number
}

export function settingOf(options: SmallSessionOptions): Setting {
  const compactions = options.compactions ?? 1
  const turns = Math.max(options.turns ?? 6, compactions + 1)
  const turnOf = (_: unknown, index: number) => Math.floor(((index + 1) * turns) / (compactions + 1))
  const chance = random(options.seed)
  return {
    random: chance,
    pool: textPool(chance),
    turns,
    compactionTurns: Array.from({ length: compactions }, turnOf),
    time: Date.parse(options.startTime ?? '2026-03-02T09:00:00.000Z'),
  }
}

export const cwd = '/home/dev/orchard-service'
