// Invalid input of a host: reported at once with advice, and nothing of it is written.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../message/json.ts'
import { type ApiMessage, answerMessage, type Body, messageBodies } from './input.ts'
import type { OwnSession } from './session.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted } from './testing/world.ts'

const blank = { role: 'user', content: 'x' }

describe('an answer as it is stored', () => {
  const fallback = { id: 'x', model: 'm' }
  const counts = { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, cacheWriteHour: 15 }
  const stored = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-5',
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
  }
  const usage = {
    input_tokens: 10,
    output_tokens: 20,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 40,
    cache_creation: { ephemeral_5m_input_tokens: 25, ephemeral_1h_input_tokens: 15 },
  }

  test('has the fields of the API, whether a client of ours or an SDK gave it', () => {
    const extra = { container: { id: 'c' }, usage: { service_tier: 'standard' } }
    const ours = answerOf('Done.', { usage: counts, extra })
    const theirs = { ...stored, usage, container: { id: 'c' } }
    expect(answerMessage(ours, fallback)).toEqual({
      ...stored,
      container: { id: 'c' },
      usage: { service_tier: 'standard', ...usage },
    })
    expect(answerMessage(theirs, fallback)).toEqual(theirs)
  })

  test('has no usage and no reason to stop unless the host says so', () => {
    expect(answerMessage({ content: 'Hi.' }, fallback)).toEqual({
      ...stored,
      ...fallback,
      content: [{ type: 'text', text: 'Hi.' }],
      stop_reason: null,
    })
  })
})

describe('a message as it is stored', () => {
  const said = { type: 'text', text: 'Hi.' }
  const image = { type: 'image', source: { type: 'url', url: 'x' } }
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'a' }
  const facts = { file: { filePath: '/a.ts' } }
  const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } })
  const attachment = (fields: object) => ({ type: 'attachment', attachment: fields })

  test.each<[string, Omit<ApiMessage, 'role'>, readonly object[]]>([
    ['nothing', { content: '' }, []],
    ['words', { content: 'Hi.' }, [user('Hi.')]],
    ['words of a person', { content: 'Hi.', origin: 'human' }, [{ ...user('Hi.'), origin: { kind: 'human' } }]],
    ['a note of the client', { content: [said], origin: 'meta' }, [{ ...user([said]), isMeta: true }]],
    ['a result', { content: [result], toolUseResult: facts }, [{ ...user([result]), toolUseResult: facts }]],
    [
      'a result among words, which are no part of it',
      { content: [said, result], origin: 'human', toolUseResult: facts },
      [
        { ...user([result]), toolUseResult: facts },
        { ...user([said]), origin: { kind: 'human' } },
      ],
    ],
    ['context', { content: 'Hi.', origin: 'attachment' }, [attachment({ type: 'context', content: 'Hi.' })]],
    [
      'an attached file with the facts of the tool that read it',
      { content: [said, said], origin: 'attachment', attachment: 'Attached file', toolUseResult: facts },
      [attachment({ type: 'Attached file', content: 'Hi.\nHi.', toolUseResult: facts })],
    ],
    [
      'an attached image',
      { content: [said, image], origin: 'attachment', attachment: 'Attached file' },
      [attachment({ type: 'Attached file', content: [said, image] })],
    ],
  ])('%s', (_, message, bodies) => {
    expect(messageBodies({ role: 'user', ...message })).toEqual(bodies as readonly Body[])
  })
})

describe('add', () => {
  const hint =
    'instructions belong to the session (`system`), a note of the client is a user message with origin: "meta"'
  const must = 'it must be "user" or "assistant"'
  test.each<readonly [string, unknown]>([
    [`message 0 has the role "system"; ${must}: ${hint}.`, { role: 'system', content: 'Be kind.' }],
    [
      `message 1 has the role "tool"; ${must}: a result is a user message with a block of type tool_result.`,
      [blank, { role: 'tool', content: 'x' }],
    ],
    [`message 0 has the role undefined; ${must}.`, { content: 'x' }],
    ['message 0 is null, not a message.', null],
    ['message 0 is a string, not a message.', 'hello'],
    ['message 0 has a content that is null, neither a string nor an array of blocks.', { role: 'user', content: null }],
    ['message 0 has a block 1 without a type.', { role: 'user', content: [{ type: 'text', text: 'x' }, null] }],
    ['message 0 has a block 0 of type text without text.', { role: 'user', content: [{ type: 'text' }] }],
    [
      'message 0 has a block 0 of type tool_result without tool_use_id.',
      { role: 'user', content: [{ type: 'tool_result', content: 'x' }] },
    ],
    [
      'message 0 has a block 0 of type tool_use without id.',
      { role: 'assistant', content: [{ type: 'tool_use', name: 'Read', input: {} }] },
    ],
  ])('says what is wrong, and adds nothing: %s', (message, given) => {
    const { session, records } = createTestWorld()
    expect(() => session.add(given as never)).toThrow(new TypeError(`add(): ${message}`))
    expect([session.messages(), records()]).toEqual([[], []])
  })

  test('takes blocks of unknown types: the transcript keeps them, and a model reads what they were', () => {
    const { session, records } = createTestWorld()
    session.add({ role: 'user', content: [{ type: 'hologram' }] })
    expect(records()).toMatchObject([{ message: { content: [{ type: 'hologram' }] } }])
    expect(session.messages()).toMatchObject([{ content: [{ type: 'text', text: '[Block of type hologram: empty]' }] }])
  })
})

describe('record', () => {
  test.each<readonly [string, unknown]>([
    ['the answer is undefined, not an answer.', undefined],
    ['the answer has a content that is null, neither a string nor an array of blocks.', { content: null }],
    ['the answer has a block 0 without a type.', { content: [{ text: 'x' }] }],
  ])('says what is wrong, and records nothing: %s', (message, given) => {
    const { session, records } = createTestWorld()
    expect(() => session.record(given as never)).toThrow(new TypeError(`record(): ${message}`))
    expect(records()).toEqual([])
  })

  test('takes what a model may send: a call without an id does not stop the session', async () => {
    const { session } = createTestWorld()
    session.add({ role: 'user', content: 'go' })
    session.record({
      content: [{ type: 'tool_use', name: 'Read', input: {} }, { type: 'text' }] as JsonObject[] as never,
    })
    session.add({ role: 'user', content: 'and?' })
    const ready = await session.prepare()
    expect(ready.type === 'ready' && ready.messages[1]?.content).toEqual([
      { type: 'text', text: '[Tool call: Read {}]' },
    ])
  })
})

describe('a session whose last message is an answer', () => {
  const worldOf = (model: string, content: Parameters<typeof answerOf>[0] = 'Done.', stopReason = 'end_turn') => {
    const world = createTestWorld({ model: scripted(() => 'more', { model }) })
    world.session.add({ role: 'user', content: 'go' })
    world.session.record(answerOf(content, { stopReason }))
    return world.session
  }

  test('has nothing to send to a model that does not continue its answers', async () => {
    const session = worldOf('claude-sonnet-4-6')
    expect(await session.prepare()).toMatchObject({
      type: 'blocked',
      reason: 'nothing-to-send',
      why: "The last message is the assistant's, and claude-sonnet-4-6 does not continue it: add a message first.",
    })
    expect(await session.send()).toMatchObject({ type: 'blocked', reason: 'nothing-to-send' })
    session.add({ role: 'user', content: 'and?' })
    expect(await session.prepare()).toMatchObject({ type: 'ready' })
  })

  test('can be sent to models that do, and to those that nobody knows', async () => {
    expect(await worldOf('claude-sonnet-4-5').prepare()).toMatchObject({ type: 'ready' })
    expect(await worldOf('nobody-knows-1').prepare()).toMatchObject({ type: 'ready' })
  })

  test('can be sent where the answer was paused, or its call waits for a result', async () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
    const compaction = { type: 'compaction', content: 'In short.' }
    const call = { type: 'tool_use', id: 't', name: 'Read', input: {} }
    for (const content of [[search], [compaction], [call]]) {
      expect(await worldOf('claude-sonnet-4-6', content).prepare()).toMatchObject({ type: 'ready' })
    }
    expect(await worldOf('claude-sonnet-4-6', 'Wait.', 'pause_turn').prepare()).toMatchObject({ type: 'ready' })
  })

  test('can be prepared for another purpose: whoever asks puts a message behind it', async () => {
    expect(await worldOf('claude-sonnet-4-6').prepare({ source: 'compact' })).toMatchObject({ type: 'ready' })
  })
})

describe('options that are no options', () => {
  const bad: readonly (readonly [string, (session: OwnSession) => Promise<unknown>, RegExp])[] = [
    ['compact(null)', (session) => session.compact(null as never), /^compact\(\): the options are null\. Pass \{/],
    ['compact a text', (session) => session.compact('all' as never), /^compact\(\): the options are a string\./],
    [
      'from a number',
      (session) => session.compact({ from: 7 as never }),
      /^compact\(\): from is a number, not a text\./,
    ],
    ['from and upTo', (session) => session.compact({ from: 'a', upTo: 'b' }), /^compact\(\): from and upTo exclude/],
    [
      'snip(undefined)',
      (session) => session.snip(undefined as never),
      /^snip\(\): the options are undefined\. Pass \{ from, to/,
    ],
    [
      'snip without an end',
      (session) => session.snip({ from: 'a' } as never),
      /^snip\(\): to is undefined, not a text\./,
    ],
  ]

  test.each(bad)('%s is refused with what to pass, and nothing happens', async (_, call, words) => {
    const { session, records } = createTestWorld()
    session.add({ role: 'user', content: 'Hello.' })
    const before = records().length
    await expect(call(session)).rejects.toThrow(words)
    expect(records()).toHaveLength(before)
    expect(await session.prepare()).toMatchObject({ type: 'ready' })
  })

  test('an entry that is not there is named, also while results wait to be seen', async () => {
    const { session } = createTestWorld({ compaction: [summarizing()] })
    session.add({ role: 'user', content: 'Read it.' })
    session.record({ content: [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }] })
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'text' }] })
    for (const range of [{ from: 'unknown' }, { upTo: 'unknown' }]) {
      expect(await session.compact(range)).toMatchObject({
        reason: 'nothing-to-compact',
        why: 'unknown is not a message of the current context.',
      })
    }
  })
})
