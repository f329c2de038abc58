// How likely a client continues after a pause, learned from earlier pauses of its key. A pause is counted in cache lifetimes: in
// the first one nothing needs to be kept, in the second one the first touch pays if the client returns, and so on.

export type Returns = {
  /** A pause ended in this lifetime, counted from 0. */
  readonly returned: (key: string, lifetime: number) => void
  /** A pause lasted longer than this lifetime. */
  readonly stayedAway: (key: string, lifetime: number) => void
  /** Share of the pauses that reached this lifetime and ended in it. */
  readonly share: (key: string, lifetime: number) => number
}

type Count = { returned: number; reached: number }

export function createReturns(): Returns {
  const counts = new Map<string, Count>()
  const countOf = (key: string, lifetime: number): Count => {
    const name = JSON.stringify([key, lifetime])
    const count = counts.get(name) ?? { returned: 0, reached: 0 }
    counts.set(name, count)
    return count
  }
  return {
    returned: (key, lifetime) => {
      const count = countOf(key, lifetime)
      count.returned++
      count.reached++
    },
    stayedAway: (key, lifetime) => {
      countOf(key, lifetime).reached++
    },
    // Laplace's rule of succession: one half without any data.
    share: (key, lifetime) => {
      const { returned, reached } = countOf(key, lifetime)
      return (returned + 1) / (reached + 2)
    },
  }
}
