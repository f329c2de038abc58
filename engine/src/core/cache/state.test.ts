import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import { type CacheState, cacheStateOf } from './state.ts'

const minute = 60_000
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 100, cacheWriteHour: 0 }
const answer = (more: Partial<ViewMessage>): ViewMessage => ({
  role: 'assistant',
  content: 'done',
  origin: 'assistant',
  ...more,
})

describe('the state of the cache', () => {
  const cases: readonly (readonly [string, Partial<ViewMessage>, number, CacheState])[] = [
    [
      'warm within the five minutes of its last write',
      { time: 0, usage },
      4 * minute,
      { type: 'warm', lastAnswer: 0, lifetime: 5 * minute },
    ],
    ['cold after them', { time: 0, usage }, 5 * minute, { type: 'cold', lastAnswer: 0, lifetime: 5 * minute }],
    [
      'warm within the hour where it was written for one',
      { time: 0, usage: { ...usage, cacheWriteHour: 100 } },
      59 * minute,
      { type: 'warm', lastAnswer: 0, lifetime: 60 * minute },
    ],
    [
      'cold after five minutes where only the head was written for an hour',
      { time: 0, usage: { ...usage, cacheWriteHour: 60 } },
      5 * minute,
      { type: 'cold', lastAnswer: 0, lifetime: 5 * minute },
    ],
    [
      'an hour is assumed when no answer tells',
      { time: 0 },
      59 * minute,
      { type: 'warm', lastAnswer: 0, lifetime: 60 * minute },
    ],
    ['unknown without a time', { usage }, 59 * minute, { type: 'unknown', lifetime: 5 * minute }],
    [
      'unknown when the clock went backwards',
      { time: 10, usage },
      9,
      { type: 'unknown', lastAnswer: 10, lifetime: 5 * minute },
    ],
  ]
  test.each(cases)('%s', (_, more, now, state) => {
    expect(cacheStateOf({ messages: [answer(more)], now })).toEqual(state)
  })
})
