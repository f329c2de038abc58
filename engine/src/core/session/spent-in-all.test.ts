import { expect, test } from 'vitest'
import type { RunningMechanism } from '../mechanisms/mechanism.ts'
import { failed } from '../ports/outcome.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld } from './testing/world.ts'

const usage = { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
type Spent = {
  readonly usage: typeof usage
  readonly cost?: number
  readonly attempts?: number
  readonly hitRate?: number
}

const failing = (spent: Spent): RunningMechanism => ({
  name: 'first',
  run: async () => ({ ...failed('api-error', 'It could not.'), ...spent }),
})
const working = (spent: Partial<Spent>): RunningMechanism => ({
  name: 'second',
  run: async (context) => ({ ...(await plainMechanism('In short.').run(context)), ...spent }) as never,
})

async function compacted(first: Spent, second: Partial<Spent>) {
  const { session } = createTestWorld({ compaction: [failing(first), working(second)] })
  session.add({ role: 'user', content: 'Go on.' })
  session.record(answerOf('lorem ipsum '.repeat(1_200), { usage: { ...usage, input: 15_000 } }))
  session.add({ role: 'user', content: 'And on.' })
  const { usage: sum, cost, attempts, hitRate } = (await session.compact()) as Partial<Spent>
  return { sum, cost, attempts, hitRate }
}

test.each<[string, Spent, Partial<Spent>, object]>([
  [
    'both cost something',
    { usage, cost: 1, attempts: 2, hitRate: 0.2 },
    { usage, cost: 3, attempts: 1, hitRate: 0.9 },
    { sum: { ...none, input: 2_000, output: 200 }, cost: 4, attempts: 3, hitRate: 0.9 },
  ],
  [
    'the second read no cache',
    { usage, cost: 1, attempts: 1, hitRate: 0.2 },
    { usage, cost: 3, attempts: 1 },
    { sum: { ...none, input: 2_000, output: 200 }, cost: 4, attempts: 2, hitRate: 0.2 },
  ],
  [
    'the price of the first is not known',
    { usage, attempts: 1 },
    { usage, cost: 3, attempts: 1 },
    { sum: { ...none, input: 2_000, output: 200 }, cost: undefined, attempts: 2 },
  ],
  [
    'the first used nothing',
    { usage: none, attempts: 1 },
    { usage, cost: 3, attempts: 1 },
    { sum: usage, cost: 3, attempts: 2 },
  ],
  [
    'the second is code',
    { usage, cost: 1, attempts: 1 },
    { usage: none, attempts: 0 },
    { sum: usage, cost: 1, attempts: 1 },
  ],
])('a compaction reports what all its attempts used: %s', async (_, first, second, expected) => {
  expect(await compacted(first, second)).toMatchObject(expected)
})
