// The pauses of somebody who works on weekdays: two weeks, six tasks a day. Short pauses have the shape of those in real sessions;
// lunch, nights and weekends come from the calendar.
import type { Random } from '../random.ts'
import { humanGap } from './gaps.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const tasksPerDay = 6
const workdays = 5
export const tasksInTwoWeeks = 2 * workdays * tasksPerDay
/** Nobody is away longer during work: the longest twentieth of real pauses are lunches, nights and weekends. */
const atWork = 0.95

export type Moment = {
  /** Number of finished tasks. */
  readonly tasks: number
  /** Milliseconds since nine o'clock on the first Monday. */
  readonly elapsed: number
}

/** Milliseconds until the next task. */
export function pauseAfter({ tasks, elapsed }: Moment, random: Random): number {
  const ofDay = tasks % tasksPerDay
  if (ofDay === tasksPerDay / 2) return Math.round((45 + 30 * random.next()) * minute)
  if (ofDay !== 0) return humanGap(atWork * random.next())
  const workday = tasks / tasksPerDay
  const morning = (Math.floor(workday / workdays) * 7 + (workday % workdays)) * day
  return Math.max(minute, morning + Math.round(30 * random.next() * minute) - elapsed)
}
