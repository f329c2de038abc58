// LangChain: its two middlewares and ours, each called as an agent calls it before and around a request.
import { ChatAnthropic } from '@langchain/anthropic'
import { AIMessage, SystemMessage } from '@langchain/core/messages'
import type { Message } from 'everlong'
import { everlong } from 'everlong/langchain'
import {
  type BaseMessage,
  clearToolUses,
  countTokensApproximately,
  fromLangChain,
  summarizeWith,
  toLangChain,
} from '../peers/langchain.ts'
import { type Contender, dueAt, firstThatFits, keeps, oursBy, type Sdk } from './contender.ts'
import { tokensOf } from './size.ts'
import type { World } from './world.ts'

function modelOf({ model, url, fetch }: World): ChatAnthropic {
  const clientOptions = { fetch }
  return new ChatAnthropic({
    model,
    apiKey: 'none',
    anthropicApiUrl: url,
    maxTokens: 16_384,
    maxRetries: 0,
    clientOptions,
  })
}

const sending = (world: World) => {
  const model = modelOf(world)
  return async (list: readonly BaseMessage[]) => model.invoke([new SystemMessage(world.system), ...list])
}

const plain = (world: World) => {
  const send = sending(world)
  return async (messages: readonly Message[]) => void (await send(toLangChain(messages)))
}

const summarizing: Contender = {
  name: 'summarizationMiddleware',
  isOurs: false,
  start: ({ world, history, limit, summary }) => {
    const size = countTokensApproximately(toLangChain(history))
    const compact = summarizeWith({
      tokens: Math.floor(size * dueAt),
      keep: { tokens: Math.max(1, limit - summary) },
      maxToSummarize: size * 2,
      answer: world.ask,
    })
    const send = sending(world)
    let list: BaseMessage[] = []
    return async (added) => {
      list = await compact([...list, ...toLangChain(added)])
      await send(list)
    }
  },
}

const editing: Contender = {
  name: 'contextEditingMiddleware',
  isOurs: false,
  start: async ({ world, history, limit }) => {
    const trigger = Math.floor(countTokensApproximately(toLangChain(history)) * dueAt)
    const edited = async (list: readonly BaseMessage[], keep: number) => {
      const copy = [...list]
      await clearToolUses(copy, { trigger, keep })
      return copy
    }
    const keep = await firstThatFits(keeps, async (most) => {
      return tokensOf(fromLangChain(await edited(toLangChain(history), most))) <= limit
    })
    const send = sending(world)
    let list: readonly BaseMessage[] = []
    return async (added) => {
      list = [...list, ...toLangChain(added)]
      await send(await edited(list, keep))
    }
  },
}

/** LangChain stores what a request used with its answer; here another answer takes its place. */
function withUsage(list: readonly BaseMessage[], usage: AIMessage['usage_metadata']): readonly BaseMessage[] {
  const answer = list.find((message) => AIMessage.isInstance(message))
  if (answer && usage) answer.usage_metadata = usage
  return list
}

type Update = { readonly messages: readonly BaseMessage[] } | undefined
type Request = { readonly messages: readonly BaseMessage[] }
type Hooks = {
  readonly beforeModel: (state: Request, runtime: object) => Promise<Update>
  readonly wrapModelCall: (request: object, handler: (request: Request) => unknown) => Promise<unknown>
}

const ours = oursBy('middleware', ({ world }, options) => {
  const { beforeModel, wrapModelCall } = everlong(options).middleware as unknown as Hooks
  const runtime = { configurable: { thread_id: 'one' }, context: {} }
  const [model, send] = [modelOf(world), sending(world)]
  let list: readonly BaseMessage[] = []
  let usage: AIMessage['usage_metadata']
  return async (added) => {
    list = [...list, ...withUsage(toLangChain(added), usage)]
    const update = await beforeModel({ messages: list }, runtime)
    if (update) list = update.messages.filter((message) => message.getType() !== 'remove')
    const systemMessage = new SystemMessage(world.system)
    const request = { messages: list, model, systemMessage, systemPrompt: world.system, tools: [], runtime, state: {} }
    await wrapModelCall(request, async ({ messages }) => {
      const answer = await send(messages)
      usage = answer.usage_metadata
      return answer
    })
  }
})

export const langchain: Sdk = { name: 'LangChain', plain, contenders: [summarizing, editing, ...ours] }
