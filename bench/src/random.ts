// Numbers that look random and are the same in every run.
import { mulberry32 } from 'everlong/internal/testing'

export type Random = {
  /** From 0 up to, not including, 1. */
  readonly next: () => number
  /** A whole number below `end`. */
  readonly below: (end: number) => number
  readonly pick: <T>(from: readonly T[]) => T
}

export function randomFrom(seed: number): Random {
  const next = mulberry32(seed)
  const below = (end: number) => Math.floor(next() * end)
  return { next, below, pick: (from) => from[below(from.length)] as (typeof from)[number] }
}
