// compact() and microcompact() with messages of the AI SDK and of LangChain, created by the real packages: they return the same
// kind, every call keeps its result, unchanged messages are the same objects, and nothing unknown is lost.
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { type ModelMessage, modelMessageSchema } from 'ai'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { compact } from './compact.ts'
import { microcompact } from './microcompact.ts'

type Turn = {
  readonly asked: string
  readonly calls: readonly { readonly tool: string; readonly output: string }[]
  readonly thinks: boolean
  readonly hasFile: boolean
  readonly answer: string
}

const words = (about: string, times: number) => `${about} ${'the parser reads every line of the order. '.repeat(times)}`

const turn: fc.Arbitrary<Turn> = fc.record({
  asked: fc.integer({ min: 1, max: 999 }).map((at) => words(`Request ${at}:`, 8)),
  calls: fc.array(
    fc.record({
      tool: fc.constantFrom('Read', 'Bash', 'search_orders'),
      output: fc.integer({ min: 1, max: 999 }).map((at) => words(`output ${at}:`, 40)),
    }),
    { maxLength: 3 },
  ),
  thinks: fc.boolean(),
  hasFile: fc.boolean(),
  answer: fc.integer({ min: 1, max: 999 }).map((at) => words(`Answer ${at}:`, 8)),
})
const turns = fc.array(turn, { minLength: 6, maxLength: 14 })
const keeps = fc.integer({ min: 0, max: 6 })

const custom = { type: 'custom', kind: 'vendor.note', providerOptions: { vendor: { secret: 1 } } }

function modelMessages(all: readonly Turn[]): ModelMessage[] {
  const system: ModelMessage = { role: 'system', content: 'Be brief.' }
  const made = all.flatMap(({ asked, calls, thinks, hasFile, answer }, at): ModelMessage[] => {
    const ids = calls.map((_, call) => `call_${at}_${call}`)
    const reasoning = {
      type: 'reasoning' as const,
      text: 'Hm.',
      providerOptions: { anthropic: { signature: `s${at}` } },
    }
    const file = { type: 'file' as const, data: 'aGVsbG8=', mediaType: 'text/plain' }
    const named = calls.map(({ tool }, call) => ({ toolCallId: ids[call] ?? '', toolName: tool }))
    const asking: ModelMessage = {
      role: 'assistant',
      content: [
        ...(thinks ? [reasoning] : []),
        custom as never,
        ...named.map((one) => ({ type: 'tool-call' as const, ...one, input: { path: `/${at}` } })),
      ],
    }
    const results: ModelMessage = {
      role: 'tool',
      content: named.map((one, call) => ({
        type: 'tool-result' as const,
        ...one,
        output: { type: 'text' as const, value: calls[call]?.output ?? '' },
        providerOptions: { vendor: { at: call } },
      })),
    }
    return [
      { role: 'user', content: hasFile ? [{ type: 'text', text: asked }, file] : asked },
      ...(calls.length > 0 ? [asking, results] : []),
      { role: 'assistant', content: [{ type: 'text', text: answer, providerOptions: { vendor: { at } } }] },
    ]
  })
  return [system, ...made]
}

function langChainMessages(all: readonly Turn[]): BaseMessage[] {
  const made = all.flatMap(({ asked, calls, answer }, at): BaseMessage[] => {
    const named = calls.map(({ tool }, call) => ({ id: `call_${at}_${call}`, name: tool, args: { path: `/${at}` } }))
    return [
      new HumanMessage({ id: `h${at}`, content: asked }),
      ...(calls.length > 0 ? [new AIMessage({ id: `c${at}`, content: '', tool_calls: named })] : []),
      ...named.map(({ id, name }, call) => {
        const content = calls[call]?.output ?? ''
        return new ToolMessage({ id: `t${id}`, tool_call_id: id, name, content, artifact: { at: call } })
      }),
      new AIMessage({ id: `a${at}`, content: answer }),
    ]
  })
  return [new SystemMessage('Be brief.'), ...made]
}

type Kind<M> = {
  readonly make: (all: readonly Turn[]) => M[]
  /** Ids of calls and of results, in order. */
  readonly idsOf: (message: M) => { readonly calls: readonly string[]; readonly results: readonly string[] }
  readonly isValid: (message: M) => boolean
  /** Excludes thinking, and outputs of results, which may be cleared. */
  readonly fixed: (message: M) => unknown
}

const partsOf = ({ content }: ModelMessage) => (typeof content === 'string' ? [] : (content as { type: string }[]))

const aiSdk: Kind<ModelMessage> = {
  make: modelMessages,
  idsOf: (message) => {
    const ids = (type: string) =>
      partsOf(message).flatMap((part) =>
        part.type === type ? [(part as unknown as { toolCallId: string }).toolCallId] : [],
      )
    return { calls: ids('tool-call'), results: ids('tool-result') }
  },
  isValid: (message) => {
    const known = partsOf(message).filter(({ type }) => type !== 'custom')
    const content = typeof message.content === 'string' ? message.content : known
    return modelMessageSchema.safeParse({ ...message, content }).success
  },
  fixed: (message) => ({
    ...message,
    content: partsOf(message)
      .filter(({ type }) => type !== 'reasoning')
      .map((part) => ({ ...part, output: undefined })),
  }),
}

const langChain: Kind<BaseMessage> = {
  make: langChainMessages,
  idsOf: (message) => ({
    calls: AIMessage.isInstance(message) ? (message.tool_calls ?? []).map(({ id }) => id ?? '') : [],
    results: ToolMessage.isInstance(message) ? [message.tool_call_id] : [],
  }),
  isValid: (message) => [HumanMessage, AIMessage, ToolMessage, SystemMessage].some((type) => message instanceof type),
  fixed: (message) => (ToolMessage.isInstance(message) ? { ...message, content: '', lc_kwargs: {} } : message),
}

describe.each([
  ['the AI SDK', aiSdk as Kind<unknown>],
  ['LangChain', langChain as unknown as Kind<unknown>],
])('messages of %s', (_, { make, idsOf, isValid, fixed }) => {
  const expectWhole = (messages: readonly unknown[]) => {
    const seen = messages.map((message) => idsOf(message))
    expect(messages.filter((message) => !isValid(message))).toEqual([])
    expect(seen.flatMap(({ results }) => results)).toEqual(seen.flatMap(({ calls }) => calls))
  }

  test('compacted, they are a valid conversation that ends with the kept ones', async () => {
    await fc.assert(
      fc.asyncProperty(turns, keeps, async (all, keep) => {
        const given = make(all)
        const before = JSON.stringify(given)
        const result = await compact(given as ModelMessage[], { keep })
        expect(JSON.stringify(given)).toBe(before)
        expect(result.type).toBe('compacted')
        const messages: readonly unknown[] = result.messages
        expectWhole(messages)
        expect(messages[0]).toBe(given[0])
        expect(messages.length).toBeLessThan(given.length)
        // The cut may move, so that no call loses its result: at most the messages of one round.
        const kept = messages.slice(2)
        const counterparts = given.slice(given.length - kept.length)
        expect(kept.length).toBeGreaterThanOrEqual(Math.max(0, keep - 4))
        expect(kept.map(fixed)).toEqual(counterparts.map(fixed))
      }),
      { numRuns: 25 },
    )
  })

  test('micro-compacted, they are the same messages, with old results cleared and named tools left alone', () => {
    fc.assert(
      fc.property(turns, keeps, (all, keep) => {
        const given = make(all)
        const before = JSON.stringify(given)
        const { messages, cleared, leftAlone } = microcompact(given as ModelMessage[], { keep })
        const out: readonly unknown[] = messages
        expect(JSON.stringify(given)).toBe(before)
        expectWhole(out)
        expect(out.map(fixed)).toEqual(given.map(fixed))
        const changed = out.filter((message, at) => message !== given[at])
        expect(changed.length > 0).toBe(cleared > 0)
        const results = all.flatMap(({ calls }) => calls)
        const isCustom = ({ tool }: { readonly tool: string }) => tool === 'search_orders'
        expect(leftAlone).toEqual(results.some(isCustom) ? ['search_orders'] : [])
        const text = JSON.stringify(out)
        for (const { output } of results.filter(isCustom)) expect(text).toContain(output)
      }),
      { numRuns: 40 },
    )
  })
})

test('the same kind comes back by its type', () => {
  const [models, chain] = [modelMessages([]), langChainMessages([])]
  expectTypeOf(microcompact(models).messages).toEqualTypeOf<ModelMessage[]>()
  expectTypeOf(microcompact(chain).messages).toEqualTypeOf<BaseMessage[]>()
  expectTypeOf<Awaited<ReturnType<typeof compact<ModelMessage>>>['messages']>().toExtend<ModelMessage[]>()
  expectTypeOf<Awaited<ReturnType<typeof compact<BaseMessage>>>['messages']>().toEqualTypeOf<BaseMessage[]>()
})

test('a conversation of LangChain in which nobody asked anything cannot get a summary, and says so before one is written', async () => {
  const given = [new AIMessage('Hi.'), new AIMessage('Hi again.')]
  await expect(compact(given)).rejects.toThrow('compact(): there is no HumanMessage among the messages.')
  expect(microcompact(given).messages).toEqual(given)
})
