import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { checkRequest } from './check-request.ts'
import { draftOf } from './draft.ts'
import { isSound } from './sound.ts'

const isSoundRequest = (messages: readonly Message[]) => isSound(messages.map(draftOf))

const id = fc.constantFrom('t1', 't2', 't3')
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.constantFrom('go', ' ').map((text): Block => ({ type: 'text', text })),
  id.map((one): Block => ({ type: 'tool_use', id: one, name: 'Read', input: {} })),
  id.map((one): Block => ({ type: 'tool_result', tool_use_id: one, content: 'found' })),
  id.map((one): Block => ({ type: 'tool_result', tool_use_id: one, content: [{ type: 'text', text: '' }] })),
  fc.constant<Block>({ type: 'thinking', thinking: 'hm', signature: 'c2ln' }),
  fc.constant<Block>({ type: 'redacted_thinking', data: 'c2ln' }),
  id.map((one): Block => ({ type: 'server_tool_use', id: one, name: 'web_search', input: {} })),
  fc.constantFrom<Block>(
    { type: 'text' },
    { type: 'tool_use', name: 'Read' },
    { type: 'tool_result', content: 'lost' },
  ),
)
const message = (role: Message['role']): fc.Arbitrary<Message> =>
  fc.oneof(fc.constantFrom('go', ''), fc.array(block, { maxLength: 3 })).map((content): Message => ({ role, content }))

describe('what is found sound', () => {
  test('is valid, whatever it is', () => {
    let sound = 0
    const messages = fc
      .array(fc.nat(), { maxLength: 5 })
      .chain((list) =>
        fc.tuple(...list.map((one, at) => message((one % 8 === 0 ? at + 1 : at) % 2 ? 'assistant' : 'user'))),
      )
    fc.assert(
      fc.property(messages, (given) => {
        if (given.length === 0 || !isSoundRequest(given)) return
        if (given.length > 1) sound++
        expect(checkRequest(given)).toEqual([])
      }),
      { numRuns: 3_000 },
    )
    expect(sound).toBeGreaterThan(10)
  })

  test('is not a request in which two answers make the same call', () => {
    const call: Message = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }] }
    const found: Message = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'found' }] }
    const once: readonly Message[] = [{ role: 'user', content: 'go' }, call, found]
    expect([isSoundRequest(once), isSoundRequest([...once, call, found])]).toEqual([true, false])
  })

  test('is not a request with an answer that ends with thinking', () => {
    const thought: Block = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
    const said: Block = { type: 'text', text: 'ok' }
    const isSoundWith = (...content: Block[]) =>
      isSoundRequest([
        { role: 'user', content: 'go' },
        { role: 'assistant', content },
      ])
    expect([isSoundWith(thought, said), isSoundWith(said, thought)]).toEqual([true, false])
  })

  test.each([
    [
      'calls with their results first, in any order',
      true,
      [
        ['t1', 't2'],
        ['t2', 't1'],
      ],
    ],
    ['the result of another call', false, [['t1'], ['t2']]],
    [
      'one result twice, and one missing',
      false,
      [
        ['t1', 't2'],
        ['t1', 't1'],
      ],
    ],
    ['a call without its result at the end', false, [['t1'], []]],
  ] as const)('is, or is not, a request with %s', (_, expected, [calls, results]) => {
    const messages: readonly Message[] = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: calls.map((one) => ({ type: 'tool_use', id: one, name: 'Read', input: {} })) },
      { role: 'user', content: results.map((one) => ({ type: 'tool_result', tool_use_id: one, content: 'found' })) },
    ]
    expect(isSoundRequest(messages.slice(0, results.length === 0 ? 2 : 3))).toBe(expected)
  })
})
