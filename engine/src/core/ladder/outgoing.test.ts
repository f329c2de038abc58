import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Block } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import { repairRequest } from '../message/repair.ts'
import { createOutgoing } from './outgoing.ts'

const block = fc.oneof(
  fc.constant<Block>({ type: 'text', text: 'word' }),
  fc.constant<Block>({ type: 'text', text: ' ' }),
  fc.integer({ min: 0, max: 4 }).map((n): Block => ({ type: 'tool_use', id: `t${n}`, name: 'Read', input: {} })),
  fc.integer({ min: 0, max: 4 }).map((n): Block => ({ type: 'tool_result', tool_use_id: `t${n}`, content: 'x' })),
  fc.constant<Block>({ type: 'thinking', thinking: 'hm', signature: 's' }),
)
/** Sound rounds, so that there is a valid part to remember, and now and then anything at all. */
const round = fc.integer({ min: 5, max: 400 }).map((n): readonly ViewMessage[] => [
  { role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id: `t${n}`, name: 'Read', input: {} }] },
  { role: 'user', origin: 'tool-result', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: 'x' }] },
])
const anything = fc
  .record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(block, { maxLength: 3 }) })
  .map((message): readonly ViewMessage[] => [{ ...message, origin: 'meta' } as ViewMessage])
const step = fc.record({
  drop: fc.constantFrom(0, 0, 0, 1, 2, 5),
  add: fc.oneof({ weight: 6, arbitrary: round }, { weight: 1, arbitrary: anything }),
})

test('mending a conversation step by step is mending the whole of it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const outgoing = createOutgoing()
      let messages: readonly ViewMessage[] = [{ role: 'user', origin: 'human', content: 'Go.' }]
      for (const { drop, add } of steps) {
        messages = [...messages.slice(0, Math.max(1, messages.length - drop)), ...add]
        const bare = messages.map(({ role, content }) => ({ role, content }))
        expect(outgoing.mend(messages, {})).toEqual(repairRequest(bare))
      }
    }),
    { numRuns: 500 },
  )
})
