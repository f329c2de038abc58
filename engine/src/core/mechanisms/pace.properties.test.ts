import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cacheLifetimes } from '../cache/economics.ts'
import type { ViewMessage } from '../message/message.ts'
import { createPaceReader } from './situation.ts'

const usage = { output: 1, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
const message: fc.Arbitrary<ViewMessage> = fc
  .record({
    role: fc.constantFrom('user' as const, 'assistant' as const),
    tokens: fc.option(fc.integer({ min: 1, max: 200_000 })),
    time: fc.option(fc.integer({ min: 0, max: 10 * cacheLifetimes.long })),
  })
  .map(({ role, tokens, time }) => ({
    role,
    content: 'words',
    origin: role === 'user' ? ('human' as const) : ('assistant' as const),
    ...(tokens === null ? {} : { usage: { ...usage, input: tokens } }),
    ...(time === null ? {} : { time }),
  }))

test('a reader that follows a conversation finds the same as one that reads it once, whatever is replaced in between', () => {
  const steps = fc.array(fc.record({ drop: fc.nat(6), add: fc.array(message, { maxLength: 4 }), long: fc.boolean() }))
  fc.assert(
    fc.property(steps, (all) => {
      const follow = createPaceReader()
      let messages: readonly ViewMessage[] = []
      for (const { drop, add, long } of all) {
        messages = [...messages.slice(0, Math.max(0, messages.length - drop)), ...add]
        const lifetime = long ? cacheLifetimes.long : cacheLifetimes.short
        expect(follow({ messages }, lifetime)).toEqual(createPaceReader()({ messages }, lifetime))
      }
    }),
    { numRuns: 300 },
  )
})
