// What happens while something is waited for, in its order: pushed from anywhere, yielded by a generator.

export type Channel<T> = {
  readonly push: (item: T) => void
  /** Yields what comes until the promise settles, and what came last; returns what it brought. */
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
