import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { offline } from '../../models/offline.ts'
import type { CallOptions, ManagedHistory } from '../history/managed-history.ts'
import type { LangChainMessage } from './messages.ts'
import { createLangChainMiddleware } from './middleware.ts'

type Hook = (first: object, second: unknown) => Promise<unknown>

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
