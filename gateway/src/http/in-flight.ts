// Requests in progress. A stop waits for them, because an answer that the client has got must reach the recorder before it
// closes.

export type InFlight = {
  /** Counts the work until it has settled. */
  readonly add: (work: Promise<unknown>) => void
  /** Resolves when nothing is in flight. */
  readonly settled: () => Promise<void>
}

export function createInFlight(): InFlight {
  let count = 0
  let idle: (() => void)[] = []
  const leave = () => {
    if (--count > 0) return
    for (const resolve of idle) resolve()
    idle = []
  }
  return {
    add: (work) => {
      count++
      work.then(leave, leave)
    },
    settled: () =>
      new Promise((resolve) => {
        if (count === 0) resolve()
        else idle.push(resolve)
      }),
  }
}
