import { expect, test } from 'vitest'
import { todosOf } from './todos.ts'

type Given = { readonly messages: readonly object[]; readonly records?: readonly object[] }

async function found({ messages, records = [] }: Given) {
  const session = { messages: () => messages, entries: async () => records.map((record) => ({ record })) }
  return (await todosOf(session as never)).map(({ text }) => text)
}

const todo = (content: string) => ({ content, status: 'pending' })
const wrote = (id: string, ...todos: readonly object[]) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'TodoWrite', input: { todos } }],
})
const failed = (id: string) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'Wrong.', is_error: true }],
})
const summary = { role: 'user', origin: 'summary', content: 'What was said.' }
const recorded = (uuid: string, message: object) => ({ type: 'assistant', uuid, message })
const boundary = { type: 'system', subtype: 'compact_boundary', uuid: 'b', compactMetadata: { trigger: 'manual' } }

test('the newest list counts, unless its call failed or its input is wrong', async () => {
  expect(await found({ messages: [wrote('1', todo('old')), wrote('2', todo('new'))] })).toEqual(['new'])
  expect(await found({ messages: [wrote('1', todo('old')), wrote('2', todo('new')), failed('2')] })).toEqual(['old'])
  expect(await found({ messages: [wrote('1', todo('old')), wrote('2', { content: 'x' })] })).toEqual(['old'])
  expect(await found({ messages: [wrote('1', todo('old')), wrote('2')] })).toEqual([])
})

test('after a compaction the list is read from the transcript, but not without one: it was rewound', async () => {
  const records = [recorded('1', wrote('1', todo('earlier'))), boundary, recorded('2', wrote('2', todo('rewound')))]
  expect(await found({ messages: [summary], records })).toEqual(['earlier'])
  expect(await found({ messages: [summary, wrote('3', todo('later'))], records })).toEqual(['later'])
  expect(await found({ messages: [], records })).toEqual([])
  expect(await found({ messages: [summary], records: records.slice(0, 1) })).toEqual(['earlier'])
})
