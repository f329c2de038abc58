// Time, ids and chance, handed in: the same options give the same run. Nothing here is read by scripts directly.
import { setTimeout as wait } from 'node:timers/promises'

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** A clock that stands still until it is turned. Sleeping turns it, so no test waits. */
export type TurnableClock = Clock & { readonly turn: (milliseconds: number) => void }

export const systemClock: Clock = { now: () => Date.now(), sleep: (milliseconds) => wait(milliseconds) }

export function turnableClock(start: number = Date.UTC(2026, 10, 1)): TurnableClock {
  let time = start
  const turn = (milliseconds: number) => {
    time += milliseconds
  }
  return { now: () => time, turn, sleep: async (milliseconds) => turn(milliseconds) }
}

export type IdKind = 'msg' | 'toolu' | 'req' | 'chatcmpl' | 'call'
export type Ids = (kind: IdKind) => string

/** Ids that look like the API's and are the same for the same seed. */
export function seededIds(seed: number): Ids {
  let count = 0
  const random = seededRandom(seed ^ 0x1d5)
  return (kind) => {
    count++
    const noise = Array.from({ length: 8 }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
    return `${kind}_01${noise}${count.toString(36).padStart(10, '0')}`
  }
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
