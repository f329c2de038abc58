import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { offline } from '../../models/offline.ts'
import type { CallOptions, ManagedHistory } from '../history/managed-history.ts'
import type { LangChainMessage } from './messages.ts'
import { createLangChainMiddleware } from './middleware.ts'

type Hook = (first: object, second: unknown) => Promise<unknown>

test('what was prepared ahead is sent only if the call is the one that it was prepared for', async () => {
  const messages = [new HumanMessage('Hello.')]
  const used: boolean[] = []
  const history: Pick<ManagedHistory<LangChainMessage>, 'prepare' | 'run'> = {
    prepare: async (all) => ({ messages: all, outcome: { type: 'blocked' } as never }),
    run: async (_, options, send) => {
      used.push(options.prepared !== undefined)
      return send({ messages })
    },
  }
  let name = 'one'
  const { beforeModel, wrapModelCall } = createLangChainMiddleware({
    historyOf: async () => history as ManagedHistory<LangChainMessage>,
    model: () => ({ client: offline(), name }),
    classes: async () => {
      throw new Error('Nothing is replaced.')
    },
    maxResultLength: 9,
  })
  const call = async (more: object = {}, given = messages) => {
    await (beforeModel as Hook)({ messages }, {})
    const request = { messages: given, tools: [], model: {}, runtime: {}, ...more }
    await (wrapModelCall as Hook)(request, () => new AIMessage('Hi.'))
    return used.at(-1)
  }
  // Before the first call, its system prompt and tools are unknown.
  expect([await call(), await call()]).toEqual([false, true])
  expect(await call({ systemMessage: new SystemMessage('Be brief.') })).toBe(false)
  expect(await call({ systemMessage: new SystemMessage('Be brief.') })).toBe(true)
  expect(await call({ tools: [{ name: 'Read', description: 'Reads.' }] })).toBe(false)
  await call()
  expect(await call({}, [...messages, new HumanMessage('And?')])).toBe(false)
  await call()
  await (beforeModel as Hook)({ messages }, {})
  name = 'two'
  await (wrapModelCall as Hook)({ messages, tools: [], model: {}, runtime: {} }, () => new AIMessage('Hi.'))
  expect(used.at(-1)).toBe(false)
})

test('the signal of a run reaches whatever is prepared for it, before the model call and with it', async () => {
  const given: CallOptions['signal'][] = []
  const messages = [new HumanMessage('Hello.')]
  const history: Pick<ManagedHistory<LangChainMessage>, 'prepare' | 'run'> = {
    prepare: async (all, options) => {
      given.push(options?.signal)
      return { messages: all, outcome: { type: 'blocked' } as never }
    },
    run: async (_, options, send) => {
      given.push(options.signal)
      return send({ messages })
    },
  }
  const { beforeModel, wrapModelCall } = createLangChainMiddleware({
    historyOf: async () => history as ManagedHistory<LangChainMessage>,
    model: () => ({ client: offline(), name: 'any' }),
    classes: async () => {
      throw new Error('Nothing is replaced.')
    },
    maxResultLength: 9,
  })
  const { signal } = new AbortController()
  await (beforeModel as Hook)({ messages }, { signal })
  await (wrapModelCall as Hook)({ messages, tools: [], model: {}, runtime: { signal } }, () => new AIMessage('Hi.'))
  expect(given).toEqual([signal, signal])
})
