import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ViewMessage } from '../message/message.ts'
import { contextSize, type SizeOptions } from './context-size.ts'
import { createCounter } from './counter.ts'

const counts = fc.record({
  input: fc.integer({ min: 0, max: 5_000 }),
  output: fc.integer({ min: 0, max: 30 }),
  cacheRead: fc.integer({ min: 0, max: 3 }),
  cacheWrite: fc.constant(0),
  cacheWriteHour: fc.constant(0),
})
const text = fc.string({ maxLength: 30 }).map((piece) => piece.repeat(piece.length > 20 ? 60 : 1))
const anyMessage: fc.Arbitrary<ViewMessage> = fc.oneof(
  fc.record(
    {
      role: fc.constant('assistant' as const),
      origin: fc.constant('assistant' as const),
      content: text,
      messageId: fc.constantFrom('a', 'b', 'c'),
      usage: counts,
      time: fc.integer({ min: 0, max: 9 }),
      uuid: fc.constantFrom('u1', 'u2', 'u3'),
      model: fc.constantFrom('claude-opus-4-5', 'claude-opus-5', '<synthetic>'),
    },
    { requiredKeys: ['role', 'origin', 'content'] },
  ),
  fc.record(
    {
      role: fc.constant('user' as const),
      origin: fc.constantFrom('human' as const, 'tool-result' as const, 'summary' as const, 'meta' as const),
      content: fc.oneof(
        text,
        fc
          .tuple(fc.constantFrom('t1', 't2'), text)
          .map(([id, content]) => [{ type: 'tool_result', tool_use_id: id, content }]),
      ),
      time: fc.integer({ min: 0, max: 9 }),
    },
    { requiredKeys: ['role', 'origin', 'content'] },
  ),
)
const anyOptions: fc.Arbitrary<SizeOptions> = fc.record(
  {
    model: fc.constantFrom('claude-opus-4-5', 'claude-opus-5', 'gpt-5'),
    estimator: fc.constantFrom('fitted' as const, 'chars/4' as const),
    freshFrom: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom('u1', 'u2', 'gone')),
    overhead: fc.integer({ min: 0, max: 1_000 }),
  },
  { requiredKeys: [] },
)

describe('the counter', () => {
  test('equals the size counted from scratch, after every message and after every rebuild', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), anyOptions, anyOptions, (messages, options, others) => {
        const counter = createCounter(options)
        for (const [index, message] of messages.entries()) {
          counter.add(message)
          expect(counter.size()).toEqual(contextSize(messages.slice(0, index + 1), options))
        }
        counter.rebuild(messages, others)
        expect(counter.size()).toEqual(contextSize(messages, others))
        counter.rebuild(messages.slice(2))
        expect(counter.size()).toEqual(contextSize(messages.slice(2), others))
      }),
      { numRuns: 400 },
    )
  })

  test('measures a tool result again when its content has changed', () => {
    const result = (content: string): ViewMessage => ({
      role: 'user',
      origin: 'tool-result',
      content: [{ type: 'tool_result', tool_use_id: 't', content }],
    })
    const counter = createCounter({ estimator: 'chars/4' })
    counter.add(result('x'.repeat(300)))
    expect(counter.size().tokens).toBe(100)
    counter.rebuild([result('[cleared]')])
    expect(counter.size().tokens).toBe(3)
  })

  test('looks at a message once: adding to a long conversation reads none of the earlier ones', () => {
    let reads = 0
    const watched = (): ViewMessage => ({
      role: 'user',
      origin: 'human',
      get content() {
        reads++
        return 'hello'
      },
    })
    const counter = createCounter()
    for (let index = 0; index < 500; index++) {
      counter.add(watched())
      counter.size()
    }
    expect(reads).toBe(500)
  })
})
