import { AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { convert } from '../history/converter.ts'
import { foreignOnly, ourMessage } from '../testing/arbitrary-messages.ts'
import { langChainConverter, readLangChainMessage, writeLangChainMessage } from './messages.ts'

const classes = { AIMessage, HumanMessage, ToolMessage }
const text = fc.string({ minLength: 1 })
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string() }),
  fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url: fc.webUrl(), detail: fc.constant('low') }) }),
  fc.record({ type: fc.constant('image'), data: fc.base64String(), mimeType: fc.constant('image/png') }),
  fc.record({ type: fc.constant('file'), url: fc.webUrl() }),
  fc.record({ type: fc.constantFrom('audio', 'hologram'), field: fc.jsonValue() }),
)
const said = fc.oneof(
  part,
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text, index: fc.nat() }),
  fc.record({ type: fc.constant('reasoning'), reasoning: text }),
)
const call = fc.record({ id: fc.uuid(), name: text, args: fc.dictionary(text, fc.string()) })
const fields = { id: fc.uuid(), name: text, additional_kwargs: fc.dictionary(text, fc.string()) }
const foreign: fc.Arbitrary<BaseMessage> = fc.oneof(
  fc
    .record({ ...fields, content: fc.oneof(text, fc.array(part, { minLength: 1 })) })
    .map((own) => new HumanMessage(own as never)),
  fc
    .record({
      ...fields,
      content: fc.oneof(fc.string(), fc.array(said, { minLength: 1 })),
      tool_calls: fc.array(call, { maxLength: 2 }),
    })
    .map((own) => new AIMessage(own as never)),
  fc
    .record({
      ...fields,
      content: fc.oneof(text, fc.array(part, { minLength: 1 })),
      tool_call_id: fc.uuid(),
      artifact: fc.jsonValue(),
      status: fc.constantFrom('success', 'error'),
    })
    .map((own) => new ToolMessage(own as never)),
)

test('a message that nothing happened to is the very same after both ways', () => {
  fc.assert(
    fc.property(foreign, (message) => {
      fc.pre(readLangChainMessage(message).content.length > 0)
      const [back, ...others] = writeLangChainMessage(readLangChainMessage(message), classes, () => message)
      expect(back).toBe(message)
      expect(others).toEqual([])
    }),
  )
})

test('what we say survives LangChain', () => {
  fc.assert(
    fc.property(ourMessage({ media: true, images: 'all' }), (message) => {
      const written = writeLangChainMessage(message, classes)
      expect(written.every((one) => BaseMessage.isInstance(one))).toBe(true)
      const back = written.map(readLangChainMessage)
      expect(back.flatMap(({ content }) => content)).toEqual(message.content)
      expect(new Set(back.map(({ role }) => role))).toEqual(new Set([message.role]))
    }),
  )
})

test('a cleared result keeps id, name, status and artifact, and the message that was given stays as it is', () => {
  fc.assert(
    fc.property(foreign, (message) => {
      fc.pre(ToolMessage.isInstance(message))
      const before = JSON.stringify(message)
      const { content, role } = readLangChainMessage(message)
      const cleared = content.map((block) => ({ ...block, content: 'cleared' }))
      const [written] = writeLangChainMessage({ role, content: cleared }, classes, () => message)
      expect({ ...written }).toEqual({
        ...message,
        content: 'cleared',
        lc_kwargs: { ...message.lc_kwargs, content: 'cleared' },
      })
      expect(ToolMessage.isInstance(written)).toBe(true)
      expect(JSON.stringify(message)).toBe(before)
    }),
  )
})

test('a changed input is told in both places, and what only the provider reads stays', () => {
  const content = [
    { type: 'reasoning', reasoning: 'hm' },
    { type: 'text', text: 'I read it.' },
    { type: 'tool_use', id: 'a', name: 'read', input: { path: 'long' } },
  ]
  const message = new AIMessage({ id: '1', content, tool_calls: [{ id: 'a', name: 'read', args: { path: 'long' } }] })
  const use = { type: 'tool_use', id: 'a', name: 'read', input: { path: 'short' } }
  const [written] = writeLangChainMessage(
    { role: 'assistant', content: [{ type: 'text', text: 'I read it.' }, use] },
    classes,
    () => message,
  )
  expect(written?.content).toEqual([content[0], content[1], use])
  expect((written as AIMessage).tool_calls).toEqual([{ id: 'a', name: 'read', args: { path: 'short' } }])
  expect(message.content).toEqual(content)
})

test('the system prompt is no part of the conversation; a later system message is a note of the client', () => {
  const messages = [new SystemMessage('Be brief.'), new HumanMessage('Hello.'), new SystemMessage('It is late.')]
  expect(
    convert(
      langChainConverter(() => classes),
      messages,
    ),
  ).toEqual({
    head: messages.slice(0, 1),
    known: [
      { foreign: messages[1], role: 'user', content: [{ type: 'text', text: 'Hello.' }] },
      { foreign: messages[2], role: 'user', content: [{ type: 'text', text: 'It is late.' }], origin: 'meta' },
    ],
  })
})

test('an answer tells its usage, cached tokens apart', () => {
  const usage_metadata = {
    input_tokens: 100,
    output_tokens: 7,
    total_tokens: 107,
    input_token_details: { cache_read: 60, cache_creation: 10 },
  }
  const converted = langChainConverter(() => classes).read(new AIMessage({ content: 'Yes.', usage_metadata } as never))
  expect(converted.usage).toEqual({ input: 30, output: 7, cacheRead: 60, cacheWrite: 10, cacheWriteHour: 0 })
})

test('nothing that only LangChain knows reaches a summary as an unknown block', () => {
  fc.assert(
    fc.property(foreign, (message) => {
      expect(readLangChainMessage(message).content.filter(({ type }) => foreignOnly(type))).toEqual([])
    }),
  )
})
