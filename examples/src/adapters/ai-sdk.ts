// Agents on the AI SDK for the contract of adapters: with the middleware and with prepareStep, streaming and not.
import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, type ModelMessage, pruneMessages, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai'
import { everlong } from 'everlong/ai-sdk'
import { z } from 'zod'
import { type Adapter, type AgentInput, type Said, storedLists } from './contract.ts'

/** A model that binds thinking must not be asked both with and without streaming, because the tools differ on the wire. */
type How = {
  readonly by: 'middleware' | 'prepareStep' | 'pruneMessages'
  readonly streams: boolean
  /** For `pruneMessages`: tokens, by length / 4. */
  readonly trigger?: number
}

export const aiSdkAdapters: readonly Adapter[] = [
  adapter('AI SDK, middleware, streaming', { by: 'middleware', streams: true }),
  adapter('AI SDK, middleware', { by: 'middleware', streams: false }),
  adapter('AI SDK, prepareStep', { by: 'prepareStep', streams: false }),
]

/** The SDK's own way, in `prepareStep` as in its documentation, with the cache marks of a careful host. */
export const aiSdkBuiltIns: readonly Adapter[] = [40_000, 20_000].map((trigger) => ({
  name: `pruneMessages at ${trigger.toLocaleString('en')}`,
  start: (input) => start(input, { by: 'pruneMessages', streams: false, trigger }),
}))

function pruned(messages: ModelMessage[], trigger: number): ModelMessage[] {
  if (JSON.stringify(messages).length / 4 <= trigger) return messages
  return pruneMessages({
    messages,
    reasoning: 'before-last-message',
    toolCalls: 'before-last-2-messages',
    emptyMessages: 'remove',
  })
}

const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

/** At the newest two messages. */
function marked(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map(({ providerOptions: _, ...message }, at) => {
    return (at >= messages.length - 2 ? { ...message, providerOptions: mark } : message) as ModelMessage
  })
}

function adapter(name: string, how: How): Adapter {
  const isMiddleware = how.by === 'middleware'
  return { name, start: (input) => start(input, how), recovers: isMiddleware, abortsSummaries: isMiddleware }
}

async function start(input: AgentInput, { by, streams, trigger = 0 }: How) {
  const { url, model: name, settings, isManaged, system, read, storage } = input
  const provider = createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })
  const managed = everlong({ settings })
  const isWrapped = isManaged && by === 'middleware'
  const modelOf = (called: string) => {
    const model = provider(called)
    return isWrapped ? wrapLanguageModel({ model, middleware: managed.middleware }) : model
  }
  const tools = {
    read: tool({
      description: 'Reads a part of a module.',
      inputSchema: z.object({ module: z.number(), part: z.number() }),
      execute: async (of) => read(of),
    }),
  }
  const pruning = {
    instructions: { role: 'system' as const, content: system, providerOptions: mark },
    prepareStep: ({ messages }: { readonly messages: ModelMessage[] }) => ({
      messages: marked(pruned(messages, trigger)),
    }),
  }
  const call = {
    model: modelOf(name),
    tools,
    instructions: system,
    stopWhen: stepCountIs(8),
    ...(isManaged && by === 'prepareStep' ? { prepareStep: managed.prepareStep } : {}),
    ...(isManaged && by === 'pruneMessages' ? pruning : {}),
  }
  const lists = storedLists<ModelMessage>(storage)
  return {
    say: async (said: Said) => {
      const messages = lists.of(said.conversation)
      messages.push(userMessage(said))
      if (isManaged && by === 'pruneMessages') messages.splice(0, messages.length, ...pruned([...messages], trigger))
      const own = {
        ...call,
        messages,
        ...(said.model ? { model: modelOf(said.model) } : {}),
        ...(said.signal ? { abortSignal: said.signal } : {}),
      }
      if (!streams) {
        const result = await generateText(own)
        messages.push(...result.responseMessages)
        return result.text
      }
      const result = streamText({ ...own, onError: () => undefined })
      await result.consumeStream()
      const [text, response] = [await result.text, await result.responseMessages]
      messages.push(...response)
      return text
    },
    sessions: managed.sessions,
    close: async () => {
      lists.save()
      await managed.close()
    },
  }
}

function userMessage({ text, image }: Said): ModelMessage {
  if (image === undefined) return { role: 'user', content: text }
  const file = { type: 'file' as const, data: image, mediaType: 'image/png' }
  return { role: 'user', content: [{ type: 'text', text }, file] }
}
