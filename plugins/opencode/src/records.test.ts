import { compactionJobAt, transcriptOfRecords } from 'everlong/internal/node'
import { expect, test } from 'vitest'
import { recordsOf } from './records.ts'
import { assistant, compaction, session, summary, user } from './testing.ts'

test('what was said, called and answered is read in its order', () => {
  const records = recordsOf([
    user('u1', 'Run the tests.'),
    assistant('a1', [
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Running.' },
      {
        type: 'tool',
        callID: 'c1',
        tool: 'bash',
        state: { status: 'completed', input: { command: 'npm test' }, output: 'got 2\n', metadata: { exit: 1 } },
      },
      { type: 'tool', callID: 'c2', tool: 'read', state: { status: 'error', input: {}, error: 'no such file' } },
      { type: 'tool', callID: 'c3', tool: 'read', state: { status: 'running', input: {} } },
      { type: 'step-finish' },
    ]),
  ])
  const base = { sessionId: session, timestamp: '2026-11-16T05:00:00.000Z', isSidechain: false }
  expect(records).toEqual([
    {
      ...base,
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      isMeta: false,
      message: { role: 'user', content: [{ type: 'text', text: 'Run the tests.' }] },
    },
    {
      ...base,
      type: 'assistant',
      uuid: 'a1',
      parentUuid: 'u1',
      cwd: '/home/me/app',
      message: {
        id: 'a1',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'Running.' },
          { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'npm test' } },
          { type: 'tool_use', id: 'c2', name: 'read', input: {} },
        ],
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
          output_tokens: 7,
        },
      },
    },
    {
      ...base,
      type: 'user',
      uuid: 'a1-results',
      parentUuid: 'a1',
      cwd: '/home/me/app',
      message: {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'Exit code 1\ngot 2\n', is_error: true },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no such file', is_error: true },
        ],
      },
    },
  ])
})

test('the rules of the user are known across compactions', () => {
  const records = recordsOf([
    user('u1', 'From now on never touch schema.sql.'),
    assistant('a1', [{ type: 'text', text: 'Fine.' }]),
    compaction('x1'),
    summary('s1', 'Nothing yet.'),
    user('u2', 'Go on.'),
  ])
  const { carried } = compactionJobAt(transcriptOfRecords(records, 'x.jsonl'))
  expect(carried?.().rules.map(({ text }) => text)).toEqual(['From now on never touch schema.sql.'])
})
