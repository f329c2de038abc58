// Time, ids and randomness, passed in, so that the same options give the same run. Scripts do not read them directly.
import { setTimeout as wait } from 'node:timers/promises'
import { seededRandom } from './script/random.ts'

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** A clock that moves only when it is set. Sleeping advances it, so no test waits. */
export type TurnableClock = Clock & { readonly turn: (milliseconds: number) => void }

export const systemClock: Clock = { now: () => Date.now(), sleep: (milliseconds) => wait(milliseconds) }

export function turnableClock(start: number = Date.UTC(2026, 10, 1)): TurnableClock {
  let time = start
  const turn = (milliseconds: number) => {
    time += milliseconds
  }
  return { now: () => time, turn, sleep: async (milliseconds) => turn(milliseconds) }
}

export type IdKind = 'msg' | 'toolu' | 'req' | 'chatcmpl' | 'call' | 'resp' | 'rs' | 'fc' | 'ctc' | 'cmp'
export type Ids = (kind: IdKind) => string

/** Ids that look like the API's and are the same for the same seed. */
export function seededIds(seed: number): Ids {
  let count = 0
  const random = seededRandom('ids', seed)
  return (kind) => {
    count++
    const noise = Array.from({ length: 8 }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
    return `${kind}_01${noise}${count.toString(36).padStart(10, '0')}`
  }
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'
