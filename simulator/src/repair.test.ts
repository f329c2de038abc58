// The engine's repairer against the API's rules as they are told here: whatever a cut, a crash or a foreign client left
// of a conversation, what comes out of the repairer is taken.
import type { Block, Message } from 'everlong'
import { objectAt, repairRequest } from 'everlong/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ask, simulate } from './testing/ask.ts'

const ids = fc.constantFrom('t1', 't2', 't3')
const texts = fc.constantFrom('', ' ', 'a', 'b').map((text): Block => ({ type: 'text', text }))
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  texts,
  ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} })),
  fc
    .tuple(ids, fc.oneof(fc.constantFrom('', 'found'), fc.array(texts, { maxLength: 2 })))
    .map(([tool_use_id, content]) => ({ type: 'tool_result', tool_use_id, content })),
  fc.constantFrom('', 'c2ln').map((signature) => ({ type: 'thinking', thinking: 'hm', signature })),
  ids.map((id) => ({ type: 'server_tool_use', id: `srvtoolu_${id}`, name: 'web_search', input: {} })),
  ids.map((id) => ({ type: 'web_search_tool_result', tool_use_id: `srvtoolu_${id}`, content: [] })),
)
const anyMessage: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  content: fc.oneof(fc.constantFrom('', 'hello'), fc.array(anyBlock, { maxLength: 5 })),
})

test('whatever is left of a conversation, the repaired request is taken', async () => {
  const simulator = simulate({ acceptForeignSignatures: true })
  await fc.assert(
    fc.asyncProperty(fc.array(anyMessage, { maxLength: 9 }), async (messages) => {
      const next: Message = { role: 'user', content: 'Go on.' }
      const repaired = repairRequest([...messages, next]).messages
      const told = await ask(simulator, { model: 'claude-opus-4-8', max_tokens: 100, messages: repaired })
      expect([told.status, objectAt(told.body, 'error')?.message]).toEqual([200, undefined])
    }),
    { numRuns: 500 },
  )
})
