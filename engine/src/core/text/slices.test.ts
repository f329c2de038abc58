import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPause, doInSlices, doNow, sliceLength, type Work } from './slices.ts'

function* reading(lengths: readonly number[]): Work<string> {
  const read: number[] = []
  for (const length of lengths) {
    read.push(length)
    yield length
  }
  return read.join(' ')
}

test('work in slices has the result of work in one go, and pauses after each slice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2 * sliceLength)), async (lengths) => {
      const slices: number[] = []
      let [read, done] = [0, 0]
      const counted = function* (): Work<string> {
        const work = reading(lengths)
        for (let next = work.next(); ; next = work.next()) {
          if (next.done) return next.value
          read += next.value
          yield next.value
        }
      }
      const pause = async () => {
        slices.push(read - done)
        done = read
      }
      expect(await doInSlices(counted(), pause)).toBe(doNow(reading(lengths)))
      for (const slice of slices) {
        expect(slice).toBeGreaterThanOrEqual(sliceLength)
        expect(slice).toBeLessThan(sliceLength + Math.max(...lengths) + 1)
      }
      expect(read - done).toBeLessThan(sliceLength)
    }),
  )
})

test('exactly a slice pauses, one character less does not', async () => {
  const pausesFor = async (length: number) => {
    let pauses = 0
    await doInSlices(reading([length]), async () => void pauses++)
    return pauses
  }
  expect([await pausesFor(sliceLength), await pausesFor(sliceLength - 1)]).toEqual([1, 0])
})

test('work that throws, throws in slices too', async () => {
  const failing = function* (): Work<never> {
    yield sliceLength
    throw new Error('unreadable')
  }
  await expect(doInSlices(failing(), async () => undefined)).rejects.toThrow('unreadable')
})

const turns = () => {
  let count = 0
  const yieldNow = () =>
    new Promise<void>((resolve) => {
      setImmediate(() => {
        count++
        resolve()
      })
    })
  return { yieldNow, count: () => count }
}

test('sessions take turns: nobody has two slices while another waits, and each slice has a turn of the event loop', async () => {
  const { yieldNow, count } = turns()
  const pause = createPause(yieldNow)
  const order: { readonly who: string; readonly turn: number }[] = []
  const work = async (who: string, slices: number) => {
    for (let slice = 0; slice < slices; slice++) {
      await pause()
      order.push({ who, turn: count() })
    }
  }
  await Promise.all([work('a', 3), work('b', 3), work('c', 1)])
  expect(order.map(({ who }) => who).join('')).toBe('abcabab')
  expect(order.map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5, 6, 7])
  // After every caller had one slice, the order starts again.
  await work('d', 2)
  expect(order.slice(-2)).toEqual([
    { who: 'd', turn: 8 },
    { who: 'd', turn: 9 },
  ])
})

test('a late session waits for one slice of each other session', async () => {
  const { yieldNow } = turns()
  const pause = createPause(yieldNow)
  const order: string[] = []
  const work = async (who: string, slices: number) => {
    for (let slice = 0; slice < slices; slice++) {
      await pause()
      order.push(who)
    }
  }
  const busy = [work('a', 20), work('b', 20)]
  for (let nth = 0; nth < 4; nth++) await new Promise((resolve) => setImmediate(resolve))
  const before = order.length
  await work('late', 1)
  expect(order.length - before).toBeLessThanOrEqual(3)
  await Promise.all(busy)
})

test('a pause that fails is over, and those that wait are served', async () => {
  let calls = 0
  const pause = createPause(async () => {
    if (++calls === 1) throw new Error('no scheduler')
  })
  await Promise.all([pause(), pause()])
  expect(calls).toBe(2)
})
