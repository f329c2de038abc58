import { expect, test } from 'vitest'
import { type Contestant, hold, takeTurns, type Work } from './contest.ts'

/** Says how long it took instead of taking it. */
const takes = (milliseconds: (size: number) => number): Contestant['ready'] => {
  return (size) => ({ run: () => milliseconds(size) })
}
const measure = async ({ run }: Work) => ({ clock: Number(run()), processor: Number(run()) })

test('tells growth by the last tenfold step, and does not start who would take too long', async () => {
  const started: (readonly string[])[] = []
  const report = await hold(
    {
      name: 'waiting',
      what: 'Nothing.',
      contestants: [
        { name: 'even', side: 'ours', ready: takes((size) => size / 10) },
        { name: 'steep', side: 'peer', ready: takes((size) => size * size) },
      ],
    },
    {
      sizes: [1, 10, 100, 1_000],
      race: (starting, size) => {
        started.push(starting.map(({ name }) => name))
        return takeTurns(starting, { size, measure })
      },
    },
  )
  expect(started).toEqual([['even', 'steep'], ['even', 'steep'], ['even'], ['even']])
  expect(report.rows).toEqual([
    { name: 'even', side: 'ours', milliseconds: [0.1, 1, 10, 100], growth: 1 },
    { name: 'steep', side: 'peer', milliseconds: [1, 100, null, null], growth: 2 },
  ])
})
