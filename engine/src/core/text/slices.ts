// Long work in slices, so that it never holds the event loop for long. Work that reads much text is a generator that says how
// much it has read; it can be done at once, or with a pause after each slice, and has the same result either way.

/** Resolves in a later turn of the event loop, when other work has run. */
export type Pause = () => Promise<void>

/** Yields the characters that it has read since it last yielded, and returns its result. */
export type Work<T> = Generator<number, T, void>

/** Characters read between two pauses. At the speed of the slowest work, a search, that takes a few milliseconds. */
export const sliceLength = 100_000

export function doNow<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Without `pause` it is done at once. */
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
 * Pauses for all sessions of an engine: `yieldNow` comes once for each, and one slice of work runs after it. Those that wait
 * are served in the order in which they came, so that no session waits for more than one slice of each other session.
 */
export function createPause(yieldNow: Pause): Pause {
  const waiting: (() => void)[] = []
  let isServing = false
  const serve = async (): Promise<void> => {
    isServing = true
    while (waiting.length > 0) {
      // One that fails is over.
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
