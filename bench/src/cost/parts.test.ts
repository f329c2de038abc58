import type { Message } from 'everlong'
import { checkRequest } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { randomFrom } from '../random.ts'
import { withoutOldest } from './by-list.ts'
import { gapBefore } from './gaps.ts'
import { marked } from './marks.ts'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const round = (id: string): readonly Message[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(100) }] },
]

describe('pauses', () => {
  const share = (next: 'human' | 'tools', seconds: number) => {
    const random = randomFrom(1)
    const gaps = Array.from({ length: 20_000 }, () => gapBefore(next, random))
    return gaps.filter((gap) => gap > seconds * 1_000).length / gaps.length
  }

  test.each<['human' | 'tools', number, number]>([
    ['human', 300, 0.2],
    ['human', 3_600, 0.05],
    ['tools', 300, 0.006],
  ])('of %s longer than %d seconds are as many as in real sessions', (next, seconds, expected) => {
    expect(Math.abs(share(next, seconds) - expected)).toBeLessThan(0.02)
  })
})

describe('marks', () => {
  const messages = [user('a'), ...round('t1'), ...round('t2'), ...round('t3')]
  const placesOf = (list: readonly Message[]) =>
    list.flatMap((message, at) => (JSON.stringify(message).includes('cache_control') ? [at] : []))

  test('stand on the newest two messages of the user', () => {
    expect(placesOf(marked(messages, '5m'))).toEqual([4, 6])
  })
})

describe('cutting the oldest away', () => {
  test('begins with what a person said, where there is such a place', () => {
    const messages = [user('a'), ...round('t1'), user('b'), ...round('t2'), ...round('t3')]
    expect(withoutOldest(messages, 0.3)).toEqual(messages.slice(3))
  })

  test('leaves a valid request within one long turn too', () => {
    const messages = [user('a'), ...round('t1'), ...round('t2'), ...round('t3')]
    expect(checkRequest(withoutOldest(messages, 0.5))).toEqual([])
  })
})
