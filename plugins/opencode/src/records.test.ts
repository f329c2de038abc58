import { compactionJobAt, sessionOfRecords } from 'everlong/node'
import { type JsonObject, objectAt, textOf } from 'everlong/transcript'
import { expect, test } from 'vitest'
import type { SessionMessage } from './opencode-api.ts'
import { recordsOf } from './records.ts'
import { assistant, compaction, session, summary, user } from './testing.ts'

const texts = (messages: readonly SessionMessage[]) =>
  sessionOfRecords(recordsOf(messages), 'x.jsonl')
    .fold.view()
    .messages.map(({ role, content }) => [role, textOf(content)])

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

test('what opencode says in the name of the user is not the words of the user', () => {
  const [own, made] = recordsOf([
    {
      ...user('u1', 'Read this.'),
      parts: [
        { type: 'text', text: 'Read this.' },
        { type: 'text', text: 'Called the Read tool', synthetic: true },
        { type: 'text', text: 'shown to the user only', ignored: true },
        { type: 'file', mime: 'text/plain', filename: 'a.ts' },
      ],
    },
  ])
  const said = (record: JsonObject | undefined) => [record?.isMeta, textOf(objectAt(record, 'message')?.content)]
  expect([said(own), said(made)]).toEqual([
    [false, 'Read this.\n[file a.ts]'],
    [true, 'Called the Read tool'],
  ])
})

test('after a compaction the context is the summary, what was kept, and what followed', () => {
  const before = [
    user('u1', 'First.'),
    assistant('a1', [{ type: 'text', text: 'One.' }]),
    user('u2', 'Second.'),
    assistant('a2', [{ type: 'text', text: 'Two.' }]),
  ]
  const after = [user('u3', 'Third.')]
  expect(texts([...before, compaction('x1', { tail_start_id: 'u2' }), summary('s1', 'So far.'), ...after])).toEqual([
    ['user', 'So far.\nSecond.'],
    ['assistant', 'Two.'],
    ['user', 'Third.'],
  ])
  expect(texts([...before, compaction('x1'), summary('s1', 'So far.'), ...after])).toEqual([
    ['user', 'So far.\nThird.'],
  ])
})

test('a compaction that failed changes nothing', () => {
  const failed = { ...summary('s1', 'Half a'), info: { ...summary('s1', '').info, error: { name: 'Aborted' } } }
  expect(texts([user('u1', 'First.'), compaction('x1'), failed, user('u2', 'Second.')])).toEqual([
    ['user', 'First.\nSecond.'],
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
  const { carried } = compactionJobAt(sessionOfRecords(records, 'x.jsonl'))
  expect(carried?.rules.map(({ text }) => text)).toEqual(['From now on never touch schema.sql.'])
})
