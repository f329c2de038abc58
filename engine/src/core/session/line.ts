// One thing at a time: what changes a conversation waits for what is under way.

export type Line = {
  readonly run: <T>(task: () => Promise<T> | T) => Promise<T>
  /** Whether something is under way. */
  readonly isBusy: () => boolean
}

/** `settle` runs after each task, also one that threw. */
export function createLine(settle: () => void): Line {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const run = <T>(task: () => Promise<T> | T): Promise<T> => {
    waiting++
    const mine = last.then(async () => {
      try {
        return await task()
      } finally {
        waiting--
        settle()
      }
    })
    // The next one starts whether this one succeeded or not; whoever called it hears of it.
    last = mine.then(
      () => undefined,
      () => undefined,
    )
    return mine
  }
  return { run, isBusy: () => waiting > 0 }
}
