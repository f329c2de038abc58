// What clients with ids do to their histories, and what the transcript makes of it.

import { createEngine, offline } from 'everlong'
import { textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { recording, type Said } from '../testing/clients.ts'
import { spoken } from '../testing/setup.ts'

const tenant = 'one'
const headers = { 'x-claude-code-session-id': 'chat' }
const tools = [{ name: 'Bash', input_schema: { type: 'object' } }]
const user = (...content: readonly (string | object)[]): Said => ({
  role: 'user',
  content: content.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})
const assistant = (text: string): Said => ({ role: 'assistant', content: text })
const call = (id: string): Said => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] })
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })
const reminder = (text: string) => `<system-reminder>${text}</system-reminder>`

test('reminders that come and go, cache marks that move and results that are cleared do not start it again', async () => {
  const { send, sessions } = recording()
  const talk = (messages: readonly Said[], answer: string) => send({ tenant, headers, tools, messages, answer })
  await talk([user(reminder('monday'), 'Run it.')], 'I run it.')
  const marked = { type: 'text', text: 'Run it.', cache_control: { type: 'ephemeral' } }
  const more = [call('t1'), user(result('t1', 'a long output'))]
  await talk([user(marked), assistant('I run it. '), user('Well?'), ...more], 'Done.')
  const cleared = [call('t1'), user(result('t1', '[cleared]'))]
  const note: Said = { role: 'system' as never, content: 'The date changed.' }
  await talk(
    [
      user('Run it.'),
      note,
      assistant('I run it.'),
      user('Well?'),
      ...cleared,
      assistant('Done.'),
      note,
      user('Thanks.'),
    ],
    'Bye.',
  )
  const records = (await sessions(tenant)).get('chat') ?? []
  expect(spoken(records)).toEqual([
    `user: ${reminder('monday')}`,
    'user: Run it.',
    ...['assistant: I run it.', 'user: Well?', 'assistant: ', 'user: a long output', 'assistant: Done.'],
    ...['user: The date changed.', 'user: Thanks.', 'assistant: Bye.'],
  ])
  expect(JSON.stringify(records)).toContain('a long output')
  expect(records.findLast(({ isMeta }) => isMeta === true)).toMatchObject({
    message: { content: [{ text: 'The date changed.' }] },
  })
})

test('going back and saying something else hangs on the message before, and the newest thread is the conversation', async () => {
  const { send, sessions } = recording()
  const talk = (messages: readonly Said[], answer: string) => send({ tenant, headers, tools, messages, answer })
  await talk([user('one')], 'two')
  await talk([user('one'), assistant('two'), user('three')], 'four')
  await talk([user('one'), assistant('two'), user('other')], 'five')
  const records = (await sessions(tenant)).get('chat') ?? []
  expect(spoken(records)).toEqual([
    'user: one',
    'assistant: two',
    'user: three',
    'assistant: four',
    'user: other',
    'assistant: five',
  ])
  const session = await createEngine({ model: offline(), environment: {} }).read(records)
  expect(session.messages().map(({ content }) => textOf(content))).toEqual(['one', 'two', 'other', 'five'])
})

test('a conversation whose first request begins with a summary has no boundary: nothing is before it', async () => {
  const { send, sessions } = recording()
  const summary = 'This session is being continued from a previous conversation that ran out of context. They counted.'
  await send({ tenant, headers, tools, messages: [user(summary), user('three')], answer: 'four' })
  const records = (await sessions(tenant)).get('chat') ?? []
  expect(records.map(({ type }) => type)).toEqual(['user', 'user', 'assistant'])
  expect(records[0]?.parentUuid).toBe(null)
})

test('a compaction of the client leaves a boundary, and the session continues under its id', async () => {
  const { send, sessions } = recording()
  const talk = (messages: readonly Said[], answer: string) => send({ tenant, headers, tools, messages, answer })
  await talk([user('one')], 'two')
  const summary = 'This session is being continued from a previous conversation that ran out of context. They counted.'
  await talk([user(reminder('x'), summary, 'three')], 'four')
  await talk([user(reminder('y'), summary, 'three'), assistant('four'), user('five')], 'six')
  const records = (await sessions(tenant)).get('chat') ?? []
  expect(records.map(({ type, subtype }) => subtype ?? type)).toEqual([
    ...['user', 'assistant', 'compact_boundary', 'user', 'user', 'assistant', 'user', 'assistant'],
  ])
  expect(records[2]).toMatchObject({ parentUuid: null, logicalParentUuid: records[1]?.uuid })
  expect(records[3]).toMatchObject({ parentUuid: records[2]?.uuid, isMeta: true })
  expect(records[4]).toMatchObject({ parentUuid: records[3]?.uuid, isCompactSummary: true })
  const session = await createEngine({ model: offline(), environment: {} }).read(records)
  expect(
    session
      .messages()
      .map(({ content }) => textOf(content))
      .at(-1),
  ).toBe('six')
  expect(session.messages()).toHaveLength(4)
})

test('a sub-agent and what is asked aside are sessions below the conversation', async () => {
  const { send, sessions } = recording()
  await send({ tenant, headers, tools, messages: [user('main')], answer: 'yes' })
  await send({
    tenant,
    headers: { ...headers, 'x-claude-code-agent-id': 'helper' },
    tools,
    messages: [user('sub')],
    answer: 'found',
  })
  await send({ tenant, headers, messages: [user('A title, please.')], answer: 'Title' })
  const all = await sessions(tenant)
  expect([...all.keys()].map((id) => id.replace(/aside-\w+/, 'aside'))).toEqual([
    ...['chat', 'chat/subagents/agent-aside', 'chat/subagents/agent-helper'],
  ])
  expect(spoken(all.get('chat'))).toEqual(['user: main', 'assistant: yes'])
  expect(all.get('chat/subagents/agent-helper')?.every(({ isSidechain }) => isSidechain === true)).toBe(true)
})

test('two tenants who name their conversations alike have one each', async () => {
  const { send, sessions } = recording()
  await send({ tenant: 'one', headers, tools, messages: [user('first')], answer: 'a' })
  await send({ tenant: 'two', headers, tools, messages: [user('second')], answer: 'b' })
  expect(spoken((await sessions('one')).get('chat'))).toEqual(['user: first', 'assistant: a'])
  expect(spoken((await sessions('two')).get('chat'))).toEqual(['user: second', 'assistant: b'])
})

test('without ids, the same call with another result is another conversation', async () => {
  const { send, sessions } = recording()
  const asked = (content: string) => [user('Run.'), call('call_0'), user(result('call_0', content))]
  await send({ tenant, messages: asked('of ann'), answer: 'a' })
  await send({ tenant, messages: asked('of bob'), answer: 'b' })
  const all = [...(await sessions(tenant)).values()].map((records) => JSON.stringify(records))
  expect(all).toHaveLength(2)
  expect(all.map((text) => [text.includes('of ann'), text.includes('of bob')])).toEqual([
    [true, false],
    [false, true],
  ])
})

test('the books have a row for each request, with the reason of a miss', async () => {
  const { send, books } = recording()
  await send({ tenant, headers, tools, messages: [user('one')], answer: 'two' })
  const none = { failed: 0, cacheRead: 0, cacheWrite: 0, unpriced: 0, missCost: 0, removed: 0, saved: 0 }
  expect(await books.sums({})).toEqual([
    {
      ...{ ...none, kind: 'client', tenant, model: 'claude-opus-5', level: 'observe', cache: 'first-request' },
      ...{ requests: 1, input: 5, output: 1, cost: expect.any(Number) },
    },
  ])
})

test('who compacted is noted for one compaction: the next one is the client’s own again', async () => {
  const { send, sessions, notes } = recording()
  const talk = (messages: readonly Said[], answer: string) => send({ tenant, headers, tools, messages, answer })
  const summary = (text: string) => user(`This session is being continued from a previous conversation. ${text}`)
  await talk([user('one')], 'two')
  await notes.put(tenant, 'chat', 'compacted', JSON.stringify({ trigger: 'manual', by: 'everlong' }))
  await notes.put(tenant, 'other', 'compacted', 'of another session')
  await talk([summary('First.'), user('three')], 'four')
  expect(await notes.get(tenant, 'chat', 'compacted')).toBe(undefined)
  expect(await notes.get(tenant, 'other', 'compacted')).toBe('of another session')
  await talk([summary('Second.'), user('five')], 'six')
  const records = (await sessions(tenant)).get('chat') ?? []
  const boundaries = records.filter(({ subtype }) => subtype === 'compact_boundary')
  expect(boundaries.map(({ compactMetadata, everlong }) => [compactMetadata, everlong])).toEqual([
    [{ trigger: 'manual' }, { gateway: { compactedBy: 'everlong' } }],
    [{ trigger: 'auto' }, { gateway: { compactedBy: 'client' } }],
  ])
})
