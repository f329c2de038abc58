import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { blocksOf, type Message } from '../../core/message/message.ts'
import { foreignOnly, ourMessage } from '../testing/arbitrary-messages.ts'
import { chatConverter } from './chat.ts'
import { type Dialect, groupItems, type ItemGroup, itemConverter } from './items.ts'

const chat = chatConverter()
const { read: readItems } = itemConverter('responses')
const writeItems = (message: Message, dialect: Dialect, before?: ItemGroup) =>
  itemConverter(dialect)
    .write(message, () => before)
    .flat()

const text = fc.string({ minLength: 1 })
const dataUrl = fc.base64String().map((data) => `data:image/png;base64,${data}`)
const unknown = fc.record({ type: fc.constantFrom('input_audio', 'hologram'), field: fc.jsonValue() })
const words = fc.oneof(
  fc.json(),
  fc.constantFrom('', '{', '{ "a" :  1 }'),
  fc.jsonValue().map((value) => JSON.stringify({ value })),
)

const chatPart = fc.oneof(
  fc.record(
    { type: fc.constant('text'), text: fc.string(), annotations: fc.array(fc.jsonValue()) },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({
    type: fc.constant('image_url'),
    image_url: fc.record({ url: dataUrl, detail: fc.constantFrom('low', 'high') }),
  }),
  fc.record({ type: fc.constant('file'), file: fc.record({ filename: text, file_data: dataUrl }) }),
  unknown,
)
const chatCall = fc.oneof(
  fc.record({ id: fc.uuid(), type: fc.constant('function'), function: fc.record({ name: text, arguments: words }) }),
  fc.record({ id: fc.uuid(), type: fc.constant('custom'), custom: fc.record({ name: text, input: text }) }),
)
const chatMessage = fc.oneof(
  fc.record(
    { role: fc.constantFrom('user', 'developer', 'system'), content: fc.oneof(text, fc.array(chatPart)), name: text },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.oneof(fc.string(), fc.constant(null), fc.array(chatPart)),
      tool_calls: fc.uniqueArray(chatCall, { selector: ({ id }) => id }),
      refusal: fc.constant(null),
      audio: fc.record({ id: text }),
    },
    { requiredKeys: ['role'] },
  ),
  fc.record({ role: fc.constant('tool'), tool_call_id: fc.uuid(), content: fc.oneof(fc.string(), fc.array(chatPart)) }),
)

test('a chat message that nothing happened to is written as it was', () => {
  fc.assert(
    fc.property(chatMessage, (message) => {
      fc.pre(chat.read(message).content.length > 0)
      expect(chat.write(chat.read(message), () => message)).toEqual([message])
    }),
  )
})

test.each([
  ['user', undefined],
  ['system', 'meta'],
  ['developer', 'meta'],
])('a chat message of the role %s has the origin %s', (role, origin) => {
  expect(chat.read({ role, content: 'Never use tabs.' } as never).origin).toBe(origin)
})

test('what we say survives chat completions', () => {
  fc.assert(
    fc.property(ourMessage({ media: true, images: 'user' }), (message) => {
      const back = chat.write(message, () => undefined).map(chat.read)
      expect(back.flatMap(({ content }) => content)).toEqual(message.content)
      expect(new Set(back.map(({ role }) => role))).toEqual(new Set([message.role]))
    }),
  )
})

test('a cleared result keeps every other field of its chat message', () => {
  const before = { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'long' }], name: 'read', odd: 1 }
  const cleared = { type: 'tool_result', tool_use_id: 'a', content: 'cleared' }
  expect(chat.write({ role: 'user', content: [cleared] }, () => before)).toEqual([{ ...before, content: 'cleared' }])
})

const itemPart = fc.oneof(
  fc.record({
    type: fc.constantFrom('input_text', 'output_text'),
    text: fc.string(),
    annotations: fc.array(fc.jsonValue()),
  }),
  fc.record({ type: fc.constant('input_image'), image_url: dataUrl, detail: fc.constantFrom('low', 'auto') }),
  fc.record({ type: fc.constant('input_image'), image: dataUrl, providerData: fc.dictionary(text, fc.jsonValue()) }),
  fc.record({ type: fc.constant('input_file'), file: fc.record({ id: text }) }),
  unknown,
)
const callOf = (id: 'call_id' | 'callId') =>
  fc.record({
    type: fc.constant('function_call'),
    id: text,
    [id]: fc.uuid(),
    name: text,
    arguments: words,
    status: fc.constant('completed'),
  })
const resultOf = (type: string, id: 'call_id' | 'callId') =>
  fc.record({
    type: fc.constant(type),
    [id]: fc.uuid(),
    output: fc.oneof(fc.string(), fc.array(itemPart), fc.record({ type: fc.constant('text'), text })),
  })
const item: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(fc.string(), fc.array(itemPart)),
    id: text,
  }),
  fc.record({ role: fc.constantFrom('user', 'developer'), content: fc.string() }),
  fc.record({
    type: fc.constant('reasoning'),
    id: text,
    summary: fc.array(fc.record({ type: fc.constant('summary_text'), text })),
    encrypted_content: text,
  }),
  callOf('call_id'),
  callOf('callId'),
  resultOf('function_call_output', 'call_id'),
  resultOf('function_call_result', 'callId'),
  fc.record({ type: fc.constant('shell_call'), callId: fc.uuid(), action: fc.record({ commands: fc.array(text) }) }),
  fc.record({
    type: fc.constantFrom('web_search_call', 'hosted_tool_call', 'compaction'),
    id: text,
    field: fc.jsonValue(),
  }),
)

test('items that nothing happened to are the very same after both ways', () => {
  fc.assert(
    fc.property(fc.array(item), fc.constantFrom('responses' as const, 'agents' as const), (items, dialect) => {
      const groups = groupItems(items)
      expect(groups.flat()).toEqual(items)
      for (const before of groups) {
        if (readItems(before).content.length === 0) continue
        const written = writeItems(readItems(before), dialect, before)
        expect(written).toHaveLength(before.length)
        for (const [at, one] of written.entries()) expect(one).toBe(before[at])
      }
    }),
  )
})

test('an answer without content comes back as the very item', () => {
  const before = [{ type: 'message', role: 'assistant', content: [], id: 'm1' }]
  const [written] = writeItems(readItems(before), 'responses', before)
  expect(written).toBe(before[0])
})

test.each(['responses', 'agents'] as const)('what we say survives the items of %s', (dialect) => {
  fc.assert(
    fc.property(ourMessage({ media: true, images: 'all' }), (message) => {
      const back = groupItems(writeItems(message, dialect)).map(readItems)
      expect(back.flatMap(({ content }) => content)).toEqual(message.content)
      expect(new Set(back.map(({ role }) => role))).toEqual(new Set([message.role]))
    }),
  )
})

test('a cleared result keeps every other field of its item, and reasoning stays with its call', () => {
  const result = {
    type: 'function_call_result',
    callId: 'a',
    name: 'read',
    status: 'completed',
    output: { type: 'text', text: 'long' },
  }
  const cleared = { type: 'tool_result', tool_use_id: 'a', content: 'cleared' }
  expect(writeItems({ role: 'user', content: [cleared] }, 'agents', [result])).toEqual([
    { ...result, output: { type: 'text', text: 'cleared' } },
  ])
  const reasoning = { type: 'reasoning', id: 'r', content: [] }
  const call: JsonObject = { type: 'function_call', id: 'f', callId: 'a', name: 'read', arguments: '{"path":"a"}' }
  const use = { type: 'tool_use', id: 'a', name: 'read', input: { path: 'cleared' } }
  expect(writeItems({ role: 'assistant', content: [use] }, 'agents', [reasoning, call])).toEqual([
    reasoning,
    { ...call, arguments: '{"path":"cleared"}' },
  ])
  const shell = { type: 'shell_call', id: 's', callId: 'b', status: 'completed', action: { commands: ['cat log'] } }
  const cut = { type: 'tool_use', id: 'b', name: 'shell', input: { action: { commands: ['cleared'] } } }
  expect(writeItems({ role: 'assistant', content: [cut] }, 'agents', [shell])).toEqual([{ ...shell, ...cut.input }])
})

test('nothing that only one side knows reaches a summary as an unknown block', () => {
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const types = groupItems(items).flatMap((group) => blocksOf(readItems(group).content).map(({ type }) => type))
      expect(types.filter((type) => foreignOnly(type))).toEqual([])
    }),
  )
})
