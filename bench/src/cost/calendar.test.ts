import { expect, test } from 'vitest'
import { randomFrom } from '../random.ts'
import { pauseAfter, tasksInTwoWeeks } from './calendar.ts'

const hour = 3_600_000

test('sixty tasks take two weeks, with lunches, nights and weekends, the same for the same seed', () => {
  const pausesOf = (seed: number) => {
    const random = randomFrom(seed)
    let elapsed = 0
    return Array.from({ length: tasksInTwoWeeks - 1 }, (_, at) => {
      const pause = pauseAfter({ tasks: at + 1, elapsed }, random)
      elapsed += pause + hour / 6
      return { pause, elapsed }
    })
  }
  const pauses = pausesOf(11)
  const longer = (hours: number) => pauses.filter(({ pause }) => pause > hours * hour).length
  // One weekend between the two weeks, eight other nights, and ten lunches.
  expect([longer(40), longer(8)]).toEqual([1, 9])
  expect(pauses.filter(({ pause }) => pause >= 0.75 * hour && pause <= 1.25 * hour).length).toBeGreaterThanOrEqual(10)
  expect((pauses.at(-1)?.elapsed ?? 0) / (24 * hour)).toBeGreaterThan(11)
  expect((pauses.at(-1)?.elapsed ?? 0) / (24 * hour)).toBeLessThan(12)
  expect(pausesOf(11)).toEqual(pauses)
  expect(pausesOf(12)).not.toEqual(pauses)
})
