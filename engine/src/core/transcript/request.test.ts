import { expect, test } from 'vitest'
import { generateSession } from '../../testing/index.ts'
import { editRecord } from './edits.ts'
import type { Entry } from './entry.ts'
import { createFold } from './fold.ts'
import { createRequester, type RequestChoices } from './request.ts'

const position = { line: 0, offset: 0, length: 0, nth: 0 }
const entries: readonly Entry[] = [...generateSession({ seed: 3, turns: 12 })].map((record) => ({ record, position }))
const model = 'claude-opus-4-8'

test('what a view was not changed in is handed out again, message by message', () => {
  const fold = createFold()
  const request = createRequester()
  for (const entry of entries.slice(0, -20)) fold.add(entry)
  const before = request(fold.view(), { model }).messages
  for (const entry of entries.slice(-20)) fold.add(entry)
  const after = request(fold.view(), { model }).messages
  expect(after.length).toBeGreaterThan(before.length)
  const same = before.filter((message, at) => message === after[at])
  // The last round was still open: its answer, and what the user's side brought.
  expect(same.length).toBeGreaterThanOrEqual(before.length - 2)
})

test('while no edit comes, the set of answers on another prefix is the very same', () => {
  const fold = createFold()
  for (const entry of entries.slice(0, -20)) fold.add(entry)
  const id = fold
    .view()
    .messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .find(({ type }) => type === 'tool_use')?.id
  const place = { uuid: 'e', parentUuid: null, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
  expect(fold.view().changed).toBe(fold.view().changed)
  fold.add({ record: editRecord({ type: 'clear-results', toolUseIds: [String(id)] }, place), position })
  const { changed } = fold.view()
  expect(changed.size).toBeGreaterThan(0)
  for (const entry of entries.slice(-20)) {
    fold.add(entry)
    expect(fold.view().changed).toBe(changed)
  }
})

test('a date behind its name does not make it another model, and thinking of another one goes where it is bound', () => {
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
    return createRequester()(fold.view(), choices).repairs.map(({ type }) => type)
  }
  expect(didFor(model, { model, bindsThinking: true })).toEqual([])
  expect(didFor(`${model}-20260102`, { model, bindsThinking: true })).toEqual([])
  expect(didFor('claude-sonnet-4-5', { model, bindsThinking: true })).toEqual(['thinking-dropped'])
  expect(didFor('claude-sonnet-4-5', { model, bindsThinking: false })).toEqual([])
  // A model that nobody knows may bind it too; its own thinking stays.
  expect(didFor('claude-sonnet-4-5', { model: 'nobody-knows-1' })).toEqual(['thinking-dropped'])
  expect(didFor('nobody-knows-1', { model: 'nobody-knows-1' })).toEqual([])
})
