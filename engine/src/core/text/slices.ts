// Does long work in slices, so that it never blocks the event loop for long. Work is a generator that yields how much it has
// read. It can run at once or pause after each slice, with the same result.

/** Resolves in a later turn of the event loop, after other work has run. */
export type Pause = () => Promise<void>

/** Yields the number of characters read since the last yield, and returns its result. */
export type Work<T> = Generator<number, T, void>

/** Characters read between two pauses: a few milliseconds of the slowest work, a search. */
export const sliceLength = 100_000

export function doNow<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Runs without stopping if `pause` is undefined. */
export async function doInSlices<T>(work: Work<T>, pause: Pause | undefined): Promise<T> {
  if (!pause) return doNow(work)
  for (let read = 0; ; ) {
    const { done, value } = work.next()
    if (done) return value
    read += value
    if (read < sliceLength) continue
    read = 0
    await pause()
  }
}

/**
 * Shares pauses between all sessions of an engine: each `yieldNow` lets one slice of work run. Waiting sessions take turns in
 * order of arrival, so none waits for more than one slice of each other session.
 */
export function createPause(yieldNow: Pause): Pause {
  const waiting: (() => void)[] = []
  let isServing = false
  const serve = async (): Promise<void> => {
    isServing = true
    while (waiting.length > 0) {
      // A pause that fails still ends.
      await yieldNow().catch(() => undefined)
      waiting.shift()?.()
    }
    isServing = false
  }
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (!isServing) void serve()
    })
}
