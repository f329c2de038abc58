// A queue of events that a generator yields while it waits for a promise.

export type Channel<T> = {
  readonly push: (item: T) => void
  /** Yields events until the promise settles, including the last ones, and returns its value. */
  readonly until: <R>(promise: Promise<R>) => AsyncGenerator<T, R>
}

export function createChannel<T>(): Channel<T> {
  const items: T[] = []
  let wake: () => void = () => undefined
  return {
    push: (item) => {
      items.push(item)
      wake()
    },
    until: async function* <R>(promise: Promise<R>) {
      let isOver = false
      const over = () => {
        isOver = true
        wake()
      }
      promise.then(over, over)
      for (;;) {
        for (let item = items.shift(); item !== undefined; item = items.shift()) yield item
        if (isOver) return await promise
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
