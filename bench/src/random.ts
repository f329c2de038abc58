// Numbers that look random and are the same in every run (mulberry32).

export type Random = {
  /** From 0 up to, not including, 1. */
  readonly next: () => number
  /** A whole number below `end`. */
  readonly below: (end: number) => number
  readonly pick: <T>(from: readonly T[]) => T
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (end: number) => Math.floor(next() * end)
  return { next, below, pick: (from) => from[below(from.length)] as (typeof from)[number] }
}
