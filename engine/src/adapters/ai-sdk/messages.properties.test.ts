import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blocksOf } from '../../core/message/message.ts'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { convert } from '../history/converter.ts'
import { giveBack } from '../history/give-back.ts'
import { ManagedHistory } from '../history/managed-history.ts'
import type { AiMessage, Part } from './messages.ts'
import { aiSdkConverter } from './messages.ts'

const converter = aiSdkConverter('tagged')

// Made-up histories: parallel calls, thinking of several providers, files in every form, unknown parts.
const words = fc.string({ minLength: 1, maxLength: 30 }).map((text) => `w${text.replace(/[^ -~]/g, '?')}`)
const options = fc.option(
  fc.constantFrom({ anthropic: { cacheControl: { type: 'ephemeral' } } }, { openai: { itemId: 'rs_1' } }),
  { nil: undefined },
)

const withOptions = (part: fc.Arbitrary<Part>): fc.Arbitrary<Part> =>
  fc.tuple(part, options).map(([own, providerOptions]) => (providerOptions ? { ...own, providerOptions } : own))

const text = withOptions(words.map((own) => ({ type: 'text', text: own })))

const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 })
const file: fc.Arbitrary<Part> = fc
  .oneof(
    bytes.map((data): unknown => ({ type: 'data', data })),
    bytes.map((data): unknown => data),
    fc.base64String({ minLength: 4, maxLength: 40 }).map((data): unknown => data),
    fc.constant<unknown>(new URL('https://example.org/a.png')),
    fc.constant<unknown>({ type: 'reference', reference: { openai: 'file_1' } }),
  )
  .chain((data) =>
    fc.constantFrom('image/png', 'application/pdf').map((mediaType) => ({ type: 'file', data, mediaType })),
  )

const reasoning: fc.Arbitrary<Part> = fc.oneof(
  words.map((own) => ({ type: 'reasoning', text: own, providerOptions: { anthropic: { signature: `s${own}` } } })),
  words.map((own) => ({ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: own } } })),
  words.map((own) => ({ type: 'reasoning', text: own, providerOptions: { openai: { itemId: own } } })),
  words.map((own) => ({ type: 'reasoning', text: own })),
)

const unknown: fc.Arbitrary<Part> = words.map((kind) => ({ type: 'custom', kind: `made.up-${kind}` }))

const output: fc.Arbitrary<unknown> = fc.oneof(
  words.map((value) => ({ type: 'text', value })),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ type: 'json', value })),
  words.map((value) => ({ type: 'error-text', value })),
  words.map((reason) => ({ type: 'execution-denied', reason })),
  fc.tuple(text, file).map((value) => ({ type: 'content', value })),
)

type Round = {
  readonly asked: readonly Part[]
  readonly thought: readonly Part[]
  readonly said: readonly Part[]
  readonly outputs: readonly unknown[]
  readonly extra: readonly Part[]
}

const round: fc.Arbitrary<Round> = fc.record({
  asked: fc.tuple(text, fc.array(fc.oneof(file, text), { maxLength: 2 })).map(([first, rest]) => [first, ...rest]),
  thought: fc.array(reasoning, { maxLength: 1 }),
  said: fc.tuple(text, fc.array(unknown, { maxLength: 1 })).map(([first, rest]) => [first, ...rest]),
  outputs: fc.array(output, { maxLength: 3 }),
  extra: fc.array(unknown, { maxLength: 1 }),
})

/** Ends with a message that the model has to answer. */
const histories: fc.Arbitrary<readonly AiMessage[]> = fc
  .tuple(fc.array(round, { minLength: 1, maxLength: 5 }), fc.boolean())
  .map(([rounds, hasSystem]) => [
    ...(hasSystem ? [{ role: 'system', content: 'Be brief.' } as const] : []),
    ...rounds.flatMap((own, at) => messagesOf(own, at)),
    { role: 'user', content: [{ type: 'text', text: 'and now?' }] } as const,
  ])

function messagesOf({ asked, thought, said, outputs, extra }: Round, at: number): readonly AiMessage[] {
  const calls = outputs.map((_, nth) => ({
    type: 'tool-call',
    toolCallId: `c${at}-${nth}`,
    toolName: 'look',
    input: { nth },
  }))
  const results = outputs.map((own, nth) => ({
    type: 'tool-result',
    toolCallId: `c${at}-${nth}`,
    toolName: 'look',
    output: own,
  }))
  return [
    { role: 'user', content: asked },
    { role: 'assistant', content: [...thought, ...said, ...calls] },
    ...(calls.length > 0
      ? ([
          { role: 'tool', content: [...results, ...extra] },
          { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
        ] as const)
      : []),
  ]
}

test('a history that needs no change comes back as the very messages, and nothing of it is changed', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (messages) => {
      const engine = createEngine({ model: offline(), environment: {} })
      const history = new ManagedHistory({ converter, session: await engine.start() })
      const before = structuredCloneOf(messages)
      const { messages: sent } = await history.prepare(messages)
      expect(sent).toHaveLength(messages.length)
      for (const [at, message] of sent.entries()) expect(message).toBe(messages[at])
      expect(structuredCloneOf(messages)).toEqual(before)
    }),
    { numRuns: 60 },
  )
})

test('what a message became, converted back by itself, has the same parts', () => {
  fc.assert(
    fc.property(histories, (messages) => {
      const { head, known } = convert(converter, messages)
      const back = known.flatMap((own) => converter.write(own, () => own.foreign))
      expect([...head, ...back]).toEqual(messages.map(asParts))
    }),
  )
})

test('a converted message without its origins is a message that converts to the same', () => {
  fc.assert(
    fc.property(histories, (messages) => {
      const { known } = convert(converter, messages)
      const back = known.flatMap((own) => converter.write(own, () => undefined))
      const again = convert(converter, back).known
      const kinds = (all: typeof known) =>
        all.map(({ role, content }) => `${role} ${content.map(({ type }) => type).join()}`)
      expect(kinds(again)).toEqual(kinds(known.flatMap(split)))
    }),
  )
})

test('messages that were cleared keep the parts that were not', () => {
  fc.assert(
    fc.property(histories, (messages) => {
      const { known } = convert(converter, messages)
      const cleared = known.map(({ role, content }) => ({
        role,
        content: content.map((block) => (block.type === 'tool_result' ? { ...block, content: '[cleared]' } : block)),
      }))
      const given = giveBack(cleared, known, converter).map(({ foreign }) => foreign)
      const expected = messages.filter(({ role }) => role !== 'system').map(clearedMessage)
      expect(given.map(asParts)).toEqual(expected.map(asParts))
    }),
  )
})

test.each([
  ['first', [1, 2]],
  ['second', [0, 2]],
  ['last', [0, 1]],
])('a result whose %s file left the context keeps the others, whatever else the SDK put there', (_, stay) => {
  const files = ['AAAA', 'BBBB', 'CCCC'].map((data) => ({ type: 'image-data', data, mediaType: 'image/png' }))
  const note = { type: 'custom', providerOptions: { own: { id: 7 } } }
  const result: AiMessage = {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 't',
        toolName: 'look',
        output: { type: 'content', value: [{ type: 'text', text: 'Three.' }, ...files, note] },
      },
    ],
  }
  const block = converter.read(result).content[0] ?? { type: 'none' }
  const seen = blocksOf(block.content)
  const content = seen.filter(({ type }, at) => type === 'text' || stay.includes(at - 1))
  const [written] = converter.write({ role: 'user', content: [{ ...block, content }] }, () => result)
  expect(written?.content).toEqual([
    expect.objectContaining({
      toolName: 'look',
      output: {
        type: 'content',
        value: [{ type: 'text', text: `Three.\n${JSON.stringify(note)}` }, ...stay.map((at) => files[at])],
      },
    }),
  ])
})

function clearedMessage(message: AiMessage): AiMessage {
  if (message.role !== 'tool' || typeof message.content === 'string') return message
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result') return part
    const { type } = part.output as { readonly type: string }
    const isError = type.startsWith('error') || type === 'execution-denied'
    return { ...part, output: { type: isError ? 'error-text' : 'text', value: '[cleared]' } }
  })
  return { ...message, content }
}

/** Bytes and URLs do not survive JSON, but their texts do. */
function structuredCloneOf(messages: readonly AiMessage[]): string {
  return JSON.stringify(messages, (_, value: unknown) => (value instanceof URL ? value.href : value))
}

function asParts(message: AiMessage): AiMessage {
  const { content } = message
  return typeof content === 'string' && message.role !== 'system'
    ? { ...message, content: [{ type: 'text', text: content }] }
    : message
}

/** Without its origin an approval is a text of the user's, so its message becomes two. */
function split<Own extends { readonly content: readonly { readonly type: string }[] }>(own: Own): readonly Own[] {
  const results = own.content.filter(({ type }) => type === 'tool_result')
  const others = own.content.filter(({ type }) => type !== 'tool_result')
  return [results, others].filter((content) => content.length > 0).map((content) => ({ ...own, content }))
}
