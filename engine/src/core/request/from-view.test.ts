import { expect, test } from 'vitest'
import { generateSession } from '../../testing/index.ts'
import type { JsonObject } from '../message/json.ts'
import { editRecord } from '../transcript/format/edits.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { createFold } from '../transcript/view/fold.ts'
import { type RequestChoices, requestMessages } from './repair.ts'

const position = { line: 0, offset: 0, length: 0, nth: 0 }
const entries: readonly Entry[] = [...generateSession({ seed: 3, turns: 12 })].map((record) => ({ record, position }))
const model = 'claude-opus-4-8'
const binding = 'claude-opus-5-5'

test('the content of a message that did not change is the same object in the next request', () => {
  const fold = createFold()
  for (const entry of entries.slice(0, -20)) fold.add(entry)
  const before = requestMessages(fold.view(), { model }).messages
  for (const entry of entries.slice(-20)) fold.add(entry)
  const after = requestMessages(fold.view(), { model }).messages
  expect(after.length).toBeGreaterThan(before.length)
  const same = before.filter(({ content }, at) => content === after[at]?.content)
  // The last round was still open: its answer and the messages after it.
  expect(same.length).toBeGreaterThanOrEqual(before.length - 2)
})

test('a date after its name does not make it another model, and thinking of another one goes where it is bound', () => {
  const said = (id: string, name: string): readonly Entry[] => [
    { position, record: { type: 'user', uuid: `u${id}`, parentUuid: null, message: { role: 'user', content: 'go' } } },
    {
      position,
      record: {
        type: 'assistant',
        uuid: `a${id}`,
        parentUuid: `u${id}`,
        message: {
          id: `m${id}`,
          model: name,
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'text', text: 'so' },
          ],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
    },
  ]
  const didFor = (name: string, choices: RequestChoices) => {
    const fold = createFold()
    for (const entry of said('1', name)) fold.add(entry)
    return requestMessages(fold.view(), choices).repairs.map(({ type }) => type)
  }
  expect(didFor(binding, { model: binding })).toEqual([])
  expect(didFor(`${binding}-20260102`, { model: binding })).toEqual([])
  expect(didFor('claude-sonnet-4-5', { model: binding })).toEqual(['thinking-dropped'])
  expect(didFor('claude-sonnet-4-5', { model })).toEqual([])
  // An unknown model may bind thinking too. Its own thinking stays.
  expect(didFor('claude-sonnet-4-5', { model: 'nobody-knows-1' })).toEqual(['thinking-dropped'])
  expect(didFor('nobody-knows-1', { model: 'nobody-knows-1' })).toEqual([])
  expect(didFor('nobody-knows-1', { model: 'nobody-knows-2' })).toEqual(['thinking-dropped'])
})

test('an edit voids the thinking after it also where thinking of another model is void already', () => {
  const fold = createFold()
  const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
  const answer = (id: string, name: string, block: JsonObject) => ({
    type: 'assistant',
    message: {
      id,
      model: name,
      role: 'assistant',
      content: [thought, block],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  })
  const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } })
  const bound = 'claude-fable-5-1'
  const bodies = [
    user('go'),
    answer('m1', 'claude-sonnet-4-5', { type: 'tool_use', id: 't1', name: 'Read', input: {} }),
    user([{ type: 'tool_result', tool_use_id: 't1', content: 'found' }]),
    answer('m2', bound, { type: 'text', text: 'so' }),
    user('and?'),
  ]
  for (const [at, body] of bodies.entries()) {
    fold.add({ position, record: { ...body, uuid: `r${at}`, parentUuid: at === 0 ? null : `r${at - 1}` } })
  }
  const dropped = () => requestMessages(fold.view(), { model: bound }).repairs.map(({ message }) => message)
  expect(dropped()).toEqual([1])
  const place = { uuid: 'e', parentUuid: 'r4', timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
  fold.add({ record: editRecord({ type: 'clear-results', toolUseIds: ['t1'] }, place), position })
  expect(dropped()).toEqual([1, 3])
})
