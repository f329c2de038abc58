// Sessions that are opened by an id: a call without one must not get the session of somebody else, or one called "undefined".
import { HumanMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import type { AgentsModel } from './adapters/openai-agents/model.ts'
import { everlong as aiSdk } from './ai-sdk.ts'
import { everlong as anthropic, runTools } from './anthropic.ts'
import { createEngine } from './engine.ts'
import { everlongEdit, everlong as langChain } from './langchain.ts'
import { everlong as mastra } from './mastra.ts'
import { offline } from './models/offline.ts'
import { manageChat, manageResponses } from './openai.ts'
import { everlong as openaiAgents } from './openai-agents.ts'
import { memorySessions } from './stores/memory.ts'

const model = offline()
const messages = [{ role: 'user' as const, content: 'Hello.' }]

/** Notes the ids that sessions are opened with. */
function opening() {
  const ids: string[] = []
  const store = memorySessions()
  const open: NonNullable<Parameters<typeof aiSdk>[0]>['open'] = (options, id) => {
    ids.push(id)
    return createEngine({ ...options, store, environment: {} }).open(id, { ifMissing: 'start' })
  }
  return { ids, open }
}

type Open = ReturnType<typeof opening>['open'] & {}
type Call = (open: Open, id: string | undefined) => unknown

const generating = { provider: 'test', modelId: 'test', doGenerate: async () => ({}), doStream: async () => ({}) }
const noAnswer = async () => undefined

const calls: readonly (readonly [name: string, hint: RegExp, call: Call])[] = [
  [
    'the middleware of the AI SDK',
    /providerOptions: \{ everlong/,
    (open, sessionId) =>
      aiSdk({ model, open }).middleware.transformParams?.({
        params: { prompt: [], providerOptions: sessionId ? { everlong: { sessionId } } : {} },
        model: generating,
        type: 'generate',
      } as never),
  ],
  [
    'prepareStep of the AI SDK',
    /a function of the step/,
    (open, id) =>
      aiSdk({ model, open, sessionId: (step) => ('steps' in step ? id : 'wrong') }).prepareStep({
        ...{ messages, model: 'test', steps: [], instructions: '', runtimeContext: {} },
      }),
  ],
  [
    'the middleware of the Anthropic SDK',
    /one of its headers/,
    (open, id) => {
      const request = {
        url: 'http://localhost/v1/messages',
        method: 'POST',
        body: JSON.stringify({ model: 'm', messages }),
      }
      const own = anthropic({ model, open, sessionId: ({ headers }) => headers.get('x-chat') ?? undefined })
      const headers = new Headers(id ? { 'x-chat': id } : {})
      return own({ ...request, headers } as never, async () => Response.json({}), {
        parse: noAnswer,
        logger: console,
      } as never)
    },
  ],
  [
    'runTools',
    /Pass `sessionId` to runTools/,
    async (open, id = '') => {
      const params = { model: 'm', messages, max_tokens: 10, tools: [] }
      const runner = {
        params,
        generateToolResponse: async () => ({ role: 'user', content: [{ type: 'text', text: 'Done.' }] }),
        setMessagesParams: () => undefined,
        async *[Symbol.asyncIterator]() {
          yield { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }
        },
      }
      for await (const _ of runTools(runner, { model, open, sessionId: id }));
    },
  ],
  [
    'the middleware of LangChain',
    /configurable: \{ thread_id/,
    (open, thread_id) =>
      langChain({ model, open }).wrapModelCall?.(
        {
          messages: [new HumanMessage('Hello.')],
          tools: [],
          model: {},
          runtime: { configurable: { thread_id } },
        } as never,
        noAnswer as never,
      ),
  ],
  [
    'the context edit of LangChain',
    /everlongEdit\(\) always needs/,
    (open, id) =>
      everlongEdit({ model, open, sessionId: () => id }).apply({
        messages: [new HumanMessage('Hello.')],
        model: {},
      } as never),
  ],
  [
    'manageChat',
    /next to `open`/,
    (open, id) => manageChat({ model, open, sessionId: () => id }).run(messages, {}, noAnswer),
  ],
  [
    'manageResponses',
    /next to `open`/,
    (open, id) => manageResponses({ model, open, sessionId: () => id }).run(messages, {}, noAnswer),
  ],
  [
    'a model of the OpenAI Agents SDK',
    /Pass `sessionId` to everlong/,
    (open, id) =>
      openaiAgents({ model, open, sessionId: () => id })
        .model({ getResponse: async () => ({}) } as unknown as AgentsModel)
        .getResponse({ input: messages, modelSettings: {}, tools: [] } as never),
  ],
  [
    'the processor of Mastra',
    /memory: \{ thread, resource \}/,
    (open, id) =>
      mastra({ model, open }).processor.processLLMRequest({
        ...{ prompt: messages, model: generating, steps: [], state: {} },
        requestContext: { get: (key: string) => (key === 'mastra__threadId' ? id : undefined) },
      }),
  ],
]

describe.each(calls)('%s', (_, hint, call) => {
  test('opens the session that the call names', async () => {
    const { ids, open } = opening()
    await call(open as Open, 'chat-1')
    expect(ids).toEqual(['chat-1'])
  })

  test.each([undefined, ''])('is refused without an id (%j), and told how to name one', async (id) => {
    const { ids, open } = opening()
    const refused = Promise.resolve().then(() => call(open as Open, id))
    await expect(refused).rejects.toThrow(hint)
    expect(ids).toEqual([])
  })
})

test('where calls name no conversation, `open` without `sessionId` is a type error', () => {
  const { open = async () => createEngine({ model }).start() } = opening()
  // @ts-expect-error
  expect(manageChat({ model, open })).toBeDefined()
  // @ts-expect-error
  expect(manageResponses({ model, open })).toBeDefined()
  // @ts-expect-error
  expect(openaiAgents({ model, open })).toBeDefined()
  // @ts-expect-error
  expect(anthropic({ open })).toBeDefined()
  expect(manageChat({ model, open, sessionId: 'chat' })).toBeDefined()
  expect(aiSdk({ open: (options, id) => createEngine(options).start({ title: id.trim() } as never) })).toBeDefined()
})
