import { expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import { failingRung } from './testing/rungs.ts'
import { answerOf, createTestWorld } from './testing/world.ts'

test('a snip is a change: the next message of a person closes the breaker', async () => {
  const { session } = createTestWorld({
    settings: { contextWindow: 40_000, maxOutputTokens: 4_000 },
    compaction: [failingRung('broken')],
  })
  session.add({ role: 'user', content: 'Go.' })
  session.record(answerOf('lorem ipsum '.repeat(9_000), { usage: { ...noTokens, input: 24_000 } }))
  for (let at = 0; at < 3; at++) await session.prepare()
  expect(session.tracking().breaker.isOpen).toBe(true)
  const [first, last] = session.messages()
  expect(await session.snip({ from: first?.uuid ?? '', to: last?.uuid ?? '' })).toMatchObject({ type: 'done' })
  expect(session.tracking().breaker.isOpen).toBe(true)
  session.add({ role: 'user', content: 'And now?' })
  expect(session.tracking().breaker.isOpen).toBe(false)
})
