// An agent on Mastra for the contract of adapters. The package is too heavy to install everywhere, so it is used if the
// benchmarks have fetched it (bench/apart), and its used types are described here.
import { existsSync } from 'node:fs'
import { createAnthropic } from '@ai-sdk/anthropic'
import { everlong } from 'everlong/mastra'
import { z } from 'zod'
import { type Adapter, type AgentInput, type Said, storedLists } from './contract.ts'

type Generated = { readonly text: string; readonly error?: Error; readonly response: { readonly messages: object[] } }
type Agent = { readonly generate: (messages: readonly object[], options: object) => Promise<Generated> }
type Part = { readonly module: number; readonly part: number }

const name = '@mastra/core'
const folder = new URL(`../../../bench/apart/node_modules/${name}/dist/`, import.meta.url)
export const hasMastra = existsSync(folder)

export const mastraAdapter: Adapter = {
  name: 'Mastra',
  start: (input) => start(input),
  recovers: true,
  reportsUsage: false,
}

/** Mastra's own processor. It counts with the tokenizer of another model. */
export const mastraBuiltIns: readonly Adapter[] = [40_000, 20_000].map((limit) => ({
  name: `TokenLimiter at ${limit.toLocaleString('en')}`,
  start: async (input) => {
    const processors = (await import(new URL('processors/index.js', folder).href)) as {
      TokenLimiterProcessor: new (options: { readonly limit: number }) => object
    }
    return start(input, new processors.TokenLimiterProcessor({ limit }))
  },
}))

async function start(input: AgentInput, own?: object) {
  const { url, model, settings, isManaged, system, read, storage } = input
  const { Agent } = (await import(new URL('agent/index.js', folder).href)) as { Agent: new (options: object) => Agent }
  const tools = (await import(new URL('tools/index.js', folder).href)) as { createTool: (options: object) => object }
  const { processor, sessions, close } = everlong({ settings })
  const processorsOf = () => {
    if (own) return { inputProcessors: [own] }
    return isManaged ? { inputProcessors: [processor], errorProcessors: [processor] } : {}
  }
  const provider = createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })
  const agentOf = (called: string) =>
    new Agent({
      id: 'engineer',
      name: 'engineer',
      instructions: system,
      model: provider(called),
      tools: {
        read: tools.createTool({
          id: 'read',
          description: 'Reads a part of a module.',
          inputSchema: z.object({ module: z.number(), part: z.number() }),
          execute: async (input: Part) => read(input),
        }),
      },
      ...processorsOf(),
    })
  const agent = agentOf(model)
  const lists = storedLists<object>(storage)
  return {
    say: async ({ text, image, conversation, model: other, signal }: Said) => {
      const messages = lists.of(conversation)
      const file = { type: 'file', data: image, mediaType: 'image/png' }
      messages.push({ role: 'user', content: image === undefined ? text : [{ type: 'text', text }, file] })
      const own = signal ? { abortSignal: signal } : {}
      const called = other === undefined ? agent : agentOf(other)
      const answer = await called.generate(messages, { maxSteps: 8, modelSettings: { maxRetries: 3 }, ...own })
      if (answer.error) throw answer.error
      // Mastra resolves an aborted call with its partial result.
      signal?.throwIfAborted()
      messages.push(...answer.response.messages)
      return answer.text
    },
    sessions,
    close: async () => {
      lists.save()
      await close()
    },
  }
}
