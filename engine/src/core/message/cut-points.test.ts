import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkRequest } from '../request/check-request.ts'
import { repairRequest } from '../request/repair.ts'
import { type CutMessage, cutAfter, cutBefore, legalCuts, roundsOf, turnsOf, widened } from './cut-points.ts'
import type { Block } from './message.ts'
import { shapeOf } from './shape.ts'

const text: Block = { type: 'text', text: 'x' }
const thinking: Block = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
const use = (id: string): Block => ({ type: 'tool_use', id, name: 'Read', input: {} })
const result = (id: string): Block => ({ type: 'tool_result', tool_use_id: id, content: 'found' })
const u = (...content: Block[]): CutMessage => ({ role: 'user', content })
const a = (...content: Block[]): CutMessage => ({ role: 'assistant', content })
const piece = (messageId: string, ...content: Block[]): CutMessage => ({ role: 'assistant', content, messageId })

const cutsOf = (messages: readonly CutMessage[], cuts = legalCuts(messages)) =>
  Array.from({ length: messages.length + 1 }, (_, index) => index).filter(cuts)

describe('legal cuts', () => {
  test('never lie between a call and its result, nor before an answer', () => {
    const messages = [u(text), a(use('t1')), u(result('t1')), a(text), u(text), a(text)]
    expect(cutsOf(messages)).toEqual([0, 4, 6])
    expect(cutsOf(messages, legalCuts(messages, { before: 'user-message' }))).toEqual([0, 1, 3, 4, 5, 6])
  })

  test('keep parallel calls and late results together', () => {
    const messages = [u(text), a(use('t1'), use('t2')), u(result('t1')), u(text), u(result('t2')), u(text)]
    expect(cutsOf(messages)).toEqual([0, 5, 6])
  })

  test('never lie inside an answer that is stored in pieces, nor between thinking and what it belongs to', () => {
    const pieces = [u(text), piece('m1', text), u(text), piece('m1', text), u(text)]
    expect(cutsOf(pieces)).toEqual([0, 4, 5])
    const apart = [u(text), a(thinking), a(text), u(text)]
    expect(cutsOf(apart, legalCuts(apart, { before: 'user-message' }))).toEqual([0, 1, 3, 4])
  })

  test('keep a server tool with its result where an answer continues in another message', () => {
    const search: Block = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }
    const found: Block = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }
    const messages = [u(text), a(search, use('t1')), u(result('t1')), a(found, text), u(text)]
    expect(cutsOf(messages)).toEqual([0, 4, 5])
  })

  test('are found nearest on either side', () => {
    const cuts = legalCuts([u(text), a(use('t1')), u(result('t1')), a(text), u(text), a(text)])
    expect([cutBefore(cuts, 3), cutAfter(cuts, { index: 1, length: 6 })]).toEqual([0, 4])
    expect(cutBefore(() => false, 3)).toBeUndefined()
    expect(cutAfter(() => false, { index: 1, length: 6 })).toBeUndefined()
  })
})

describe('rounds and turns', () => {
  const messages = [u(text), a(use('t1')), u(result('t1'), text), a(text), u(text), a(text)]

  test('a round is an answer with the results of its calls', () => {
    expect(roundsOf(messages)).toEqual([
      { type: 'prompt', start: 0, end: 1 },
      { type: 'answer', start: 1, end: 3 },
      { type: 'answer', start: 3, end: 4 },
      { type: 'prompt', start: 4, end: 5 },
      { type: 'answer', start: 5, end: 6 },
    ])
  })

  test('a turn goes from one human message to the next', () => {
    const isHuman = (message: CutMessage) => message.role === 'user' && message.content.length === 1
    expect(turnsOf(messages.toSpliced(2, 1, u(result('t1'), text)), isHuman)).toEqual([
      { start: 0, end: 4 },
      { start: 4, end: 6 },
    ])
  })

  test('a stretch is widened until nothing is split', () => {
    expect(widened(messages, { start: 2, end: 3 })).toEqual({ start: 1, end: 3 })
    expect(widened(messages, { start: 3, end: 5 })).toEqual({ start: 3, end: 5 })
  })
})

test('the shape of a request fits on a line', () => {
  const image: Block = { type: 'image', source: {} }
  const messages = [
    { role: 'user' as const, content: 'hi' },
    a(thinking, use('1'), use('2')),
    u(result('1'), result('2'), image),
    a(text, { type: 'server_tool_use', id: 's' }, { type: 'web_search_tool_result', tool_use_id: 's' }),
    u(),
  ]
  expect(shapeOf(messages)).toBe('u a[th tu2] u[tr2 img] a[t su sr] u[]')
})

/** A valid conversation: prompts, answers, loops with parallel calls. */
const conversation = fc
  .array(fc.record({ calls: fc.array(fc.nat(2), { maxLength: 3 }), thinks: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((turns) => {
    let next = 0
    return turns.flatMap(({ calls, thinks }) => [
      u(text),
      ...calls.flatMap((count) => {
        const ids = Array.from({ length: count + 1 }, () => `t${next++}`)
        return [a(...(thinks ? [thinking] : []), ...ids.map(use)), u(...ids.map(result))]
      }),
      a(text),
    ])
  })

test('a valid conversation cut at any legal point is valid on both sides, without repair', () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      expect(checkRequest(messages)).toEqual([])
      for (const cut of cutsOf(messages)) {
        for (const part of [messages.slice(0, cut), messages.slice(cut)]) {
          if (part.length > 0) expect(checkRequest(part)).toEqual([])
        }
      }
      for (let start = 0; start < messages.length; start++) {
        const { start: from, end } = widened(messages, { start, end: start + 1 })
        const left = [...messages.slice(0, from), u(text), ...messages.slice(end)]
        const changes = repairRequest(left).repairs.filter(({ type }) => type !== 'messages-merged')
        expect(changes).toEqual([])
      }
    }),
  )
})

test('the first and the last place count when the nearest cut is looked for', () => {
  const ends = (at: number) => at === 0 || at === 5
  expect([0, 3, 5].map((index) => cutAfter(ends, { index, length: 5 }))).toEqual([0, 5, 5])
  expect([0, 4, 5].map((index) => cutBefore(ends, index))).toEqual([0, 0, 5])
  expect([cutAfter(() => false, { index: 0, length: 5 }), cutBefore(() => false, 5)]).toEqual([undefined, undefined])
})

test('between two pieces of assistants a cut is legal unless the first ends with thinking', () => {
  const cuts = (first: CutMessage) => {
    const messages = [u(text), first, a(text)]
    return cutsOf(messages, legalCuts(messages, { before: 'user-message' })).includes(2)
  }
  expect([cuts(a(thinking, text)), cuts(a(text, thinking)), cuts(a(thinking)), cuts(a(text))]).toEqual([
    true,
    false,
    false,
    true,
  ])
})
