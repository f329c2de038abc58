// Sessions in a store are opened by the id that a call names: a call without one must not get the session of somebody else, or
// one called "undefined". And every adapter has the same shape: session(id), sessions(), close().
import { HumanMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import type { AdapterSessions } from './adapter-sessions.ts'
import type { AgentsModel } from './adapters/openai-agents/model.ts'
import { everlong as aiSdk } from './ai-sdk.ts'
import { everlong as anthropic } from './anthropic.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import { everlong as langChain } from './langchain.ts'
import { everlong as mastra } from './mastra.ts'
import { offline } from './models/offline.ts'
import { everlong as openai } from './openai.ts'
import { everlong as openaiAgents } from './openai-agents.ts'
import { memorySessions } from './stores/memory.ts'

const model = offline()
const messages = [{ role: 'user' as const, content: 'Hello.' }]

type Options = {
  readonly model: typeof model
  readonly store: SessionStore
  readonly environment: Record<string, string>
}
/** Creates an adapter, and a call for the conversation with this id. */
type Start = (
  options: Options,
  id: string | undefined,
) => { readonly managed: AdapterSessions; readonly call: () => unknown }

const generating = { provider: 'test', modelId: 'test', doGenerate: async () => ({}), doStream: async () => ({}) }
const noAnswer = async () => undefined
async function drained(replies: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of replies);
}
const named = (id: string | undefined) => (id === undefined ? {} : { sessionId: id })

const adapters: readonly (readonly [name: string, hint: RegExp, start: Start])[] = [
  [
    'the middleware of the AI SDK',
    /providerOptions: \{ everlong/,
    (options, sessionId) => {
      const { middleware, ...managed } = aiSdk(options)
      const providerOptions = sessionId ? { everlong: { sessionId } } : {}
      const given = { params: { prompt: [], providerOptions }, model: generating, type: 'generate' }
      return { managed, call: () => middleware.transformParams?.(given as never) }
    },
  ],
  [
    'prepareStep of the AI SDK',
    /a function of the step/,
    (options, id) => {
      const managed = aiSdk({ ...options, sessionId: (step) => ('steps' in step ? id : 'wrong') })
      const step = { messages, model: 'test', steps: [], instructions: '', runtimeContext: {} }
      return { managed, call: () => managed.prepareStep(step) }
    },
  ],
  [
    'the middleware of the Anthropic SDK',
    /headers: \{ "everlong-session"/,
    (options, id) => {
      const managed = anthropic(options)
      const request = {
        url: 'http://localhost/v1/messages',
        method: 'POST',
        headers: new Headers(id ? { 'everlong-session': id } : {}),
        body: JSON.stringify({ model: 'm', messages }),
      }
      const next = async (sent: { readonly headers?: unknown }) => {
        expect(new Headers(sent.headers as Headers).has('everlong-session')).toBe(false)
        return Response.json({})
      }
      const context = { parse: noAnswer, logger: console }
      return { managed, call: () => managed.middleware(request as never, next as never, context as never) }
    },
  ],
  [
    'runTools',
    /runTools\(runner, \{ sessionId \}\)/,
    (options, id) => {
      const managed = anthropic(options)
      const runner = {
        params: { model: 'm', messages, max_tokens: 10, tools: [] },
        generateToolResponse: async () => ({ role: 'user', content: [{ type: 'text', text: 'Done.' }] }),
        setMessagesParams: () => undefined,
        async *[Symbol.asyncIterator]() {
          yield { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }
        },
      }
      return { managed, call: () => drained(managed.runTools(runner, named(id))) }
    },
  ],
  [
    'the middleware of LangChain',
    /configurable: \{ thread_id/,
    (options, thread_id) => {
      const { middleware, ...managed } = langChain(options)
      const request = { tools: [], model: {}, runtime: { configurable: { thread_id } } }
      const given = { ...request, messages: [new HumanMessage('Hello.')] }
      return { managed, call: () => middleware.wrapModelCall?.(given as never, noAnswer as never) }
    },
  ],
  [
    'the context edit of LangChain',
    /which the edit always needs/,
    (options, id) => {
      const managed = langChain({ ...options, sessionId: () => id })
      const given = { messages: [new HumanMessage('Hello.')], model: {} }
      return { managed, call: () => managed.edit.apply(given as never) }
    },
  ],
  [
    'chat completions',
    /next to `model`/,
    (options, id) => {
      const managed = openai(options)
      return { managed, call: () => managed.chat(messages, named(id), noAnswer) }
    },
  ],
  [
    'the Responses API',
    /next to `model`/,
    (options, id) => {
      const managed = openai(options)
      return { managed, call: () => managed.responses(messages, named(id), noAnswer) }
    },
  ],
  [
    'a model of the OpenAI Agents SDK',
    /Pass `sessionId` to everlong/,
    (options, id) => {
      const managed = openaiAgents({ ...options, sessionId: () => id })
      const inner = managed.wrapModel({ getResponse: async () => ({}) } as unknown as AgentsModel)
      const request = { input: messages, modelSettings: {}, tools: [] }
      return { managed, call: () => inner.getResponse(request as never) }
    },
  ],
  [
    'the processor of Mastra',
    /memory: \{ thread, resource \}/,
    (options, id) => {
      const managed = mastra(options)
      const requestContext = { get: (key: string) => (key === 'mastra__threadId' ? id : undefined) }
      const request = { prompt: messages, model: generating, steps: [], state: {}, requestContext }
      return { managed, call: () => managed.processor.processLLMRequest(request) }
    },
  ],
]

async function idsIn(store: SessionStore): Promise<readonly string[]> {
  return (await store.list()).map(({ id }) => id)
}

describe.each(adapters)('%s', (_, hint, start) => {
  test('opens the session that the call names, finds it by that id, and releases it', async () => {
    const store = memorySessions()
    const { managed, call } = start({ model, store, environment: {} }, 'chat-1')
    const missing = { name: 'StoreError', reason: 'missing', message: expect.stringContaining('chat-1') }
    await expect(managed.session('chat-1')).rejects.toMatchObject(missing)
    expect(await idsIn(store)).toEqual([])
    await call()
    expect(await idsIn(store)).toEqual(['chat-1'])
    const session = await managed.session('chat-1')
    expect(managed.sessions()).toEqual([session])
    expect(session.id).toBe('chat-1')
    expect((await store.list())[0]?.isHeld).toBe(true)
    await managed[Symbol.asyncDispose]()
    expect(managed.sessions()).toEqual([])
    expect((await store.list())[0]?.isHeld).toBe(false)
  })

  test('opens a stored session by its id after a restart, and lets the next call have it', async () => {
    const store = memorySessions()
    const before = start({ model, store, environment: {} }, 'chat-1')
    await before.call()
    const shown = (await before.managed.session('chat-1')).messages()
    await before.managed.close()

    const { managed, call } = start({ model, store, environment: {} }, 'chat-1')
    const session = await managed.session('chat-1')
    expect(session.messages()).toEqual(shown)
    expect([session.id, await managed.session('chat-1'), managed.sessions()]).toEqual(['chat-1', session, [session]])
    await call()
    const [own, ...others] = managed.sessions()
    expect([own?.messages(), others]).toEqual([shown, []])
    expect(await managed.session('chat-1')).toBe(own)
    expect(own).not.toBe(session)
    await managed.close()
    expect((await store.list()).map(({ id, isHeld }) => [id, isHeld])).toEqual([['chat-1', false]])
  })

  test.each([undefined, ''])('is refused without an id (%j), with how to name one', async (id) => {
    const store = memorySessions()
    const { call } = start({ model, store, environment: {} }, id)
    const refused = Promise.resolve().then(call)
    await expect(refused).rejects.toThrow(hint)
    expect(await idsIn(store)).toEqual([])
  })
})

test('the options of everlong() name the conversation and its user, before the call does', async () => {
  const store = memorySessions()
  const { chat, close } = openai({ model, store, environment: {}, sessionId: 'chat-2', user: () => 'ann' })
  await chat(messages, { sessionId: 'chat-1' }, noAnswer)
  await close()
  expect((await store.list({ user: 'ann' })).map(({ id }) => id)).toEqual(['chat-2'])
})

test('runTools without the middleware needs a model to write summaries with', async () => {
  const runner = {
    params: { model: 'm', messages, max_tokens: 10, tools: [] },
    generateToolResponse: async () => ({ role: 'user', content: [] }),
    setMessagesParams: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield { role: 'assistant', content: 'Hi.' }
    },
  }
  await expect(drained(anthropic().runTools(runner))).rejects.toThrow(/pass `model` to everlong\(\)/)
})
