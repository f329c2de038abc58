// The AI SDK: pruneMessages in a prepareStep, and our middleware.
import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, type LanguageModel, type ModelMessage, wrapLanguageModel } from 'ai'
import type { Message } from 'everlong'
import { everlong } from 'everlong/ai-sdk'
import { fromModelMessages, prune, toModelMessages } from '../peers/ai-sdk.ts'
import { type Contender, dueAt, firstThatFits, keeps, oursBy, type Sdk } from './contender.ts'
import { tokensOf } from './size.ts'
import type { World } from './world.ts'

export function modelOf({ model, url, fetch }: World) {
  return createAnthropic({ apiKey: 'none', baseURL: `${url}/v1`, fetch })(model)
}

export const sending =
  ({ system }: World, model: LanguageModel) =>
  (messages: readonly ModelMessage[]) =>
    generateText({ model, instructions: system, messages: [...messages], maxRetries: 0 })

export const plain = (world: World) => {
  const send = sending(world, modelOf(world))
  return async (messages: readonly Message[]) => void (await send(toModelMessages(messages)))
}

/** As its documentation measures them. */
const sizeOf = (messages: readonly ModelMessage[]) => JSON.stringify(messages).length / 4

const pruning: Contender = {
  name: 'pruneMessages',
  isOurs: false,
  start: async ({ world, history, limit }) => {
    const trigger = sizeOf(toModelMessages(history)) * dueAt
    const keep = await firstThatFits(keeps, (most) => {
      return tokensOf(fromModelMessages(prune(toModelMessages(history), most))) <= limit
    })
    const send = sending(world, modelOf(world))
    let list: readonly ModelMessage[] = []
    return async (added) => {
      list = [...list, ...toModelMessages(added)]
      if (sizeOf(list) > trigger) list = prune(list, keep)
      await send(list)
    }
  },
}

const ours = oursBy('middleware', ({ world }, options) => {
  const { middleware } = everlong({ ...options, sessionId: 'one' })
  const send = sending(world, wrapLanguageModel({ model: modelOf(world), middleware }))
  let list: readonly ModelMessage[] = []
  return async (added) => {
    list = [...list, ...toModelMessages(added)]
    await send(list)
  }
})

export const aiSdk: Sdk = { name: 'AI SDK', plain, contenders: [pruning, ...ours] }
